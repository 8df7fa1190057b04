"""The colours of kinds can be told apart by everyone, and none of them says the state of a task."""

import itertools
import re

import pytest

from manyhands.surfaces.page.inlining import FOLDER
from surfaces.page.colour_vision import SIMULATED, distance

APART = 15.0
STATES = ("good", "bad", "warn", "running")


def colours(theme: str) -> dict[str, str]:
    """The custom properties of a theme that are colours."""
    style = (FOLDER / "style.css").read_text()
    start = ":root{" if theme == "light" else ":root[data-theme=dark]{"
    block = style[style.index(start) : style.index("}", style.index(start))]
    return dict(re.findall(r"--([\w-]+):(#[0-9a-f]{6})\b", block))


@pytest.mark.parametrize("vision", SIMULATED)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_five_kinds_are_apart_for_every_kind_of_colour_vision(theme: str, vision: str) -> None:
    kinds = {name: colour for name, colour in colours(theme).items() if name.startswith("kind-")}
    assert len(kinds) == 5  # a second five have the same colours with stripes
    for one, other in itertools.combinations(kinds, 2):
        assert distance(kinds[one], kinds[other], vision) >= APART, (one, other)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_state_has_the_colour_of_a_kind(theme: str) -> None:
    found = colours(theme)
    for state in STATES:
        for name, colour in found.items():
            if name.startswith("kind-"):
                assert distance(found[state], colour) >= 10, (state, name)
    style = (FOLDER / "style.css").read_text()
    assert re.findall(r"\[data-state[^{]*\{[^}]*--kind", style) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_distance_is_that_of_known_pairs(theme: str) -> None:
    """Two values from the paper's own table of test data would need L*a*b*; black and white are known in any case."""
    assert distance("#ffffff", "#000000") == pytest.approx(100, abs=0.01)
    assert distance("#123456", "#123456") == 0
    assert distance("#ff0000", "#00ff00", "protanopia") < distance("#ff0000", "#00ff00")
