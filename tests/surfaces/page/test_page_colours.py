"""The colours of kinds can be told apart by everyone, and none of them says the state of a task."""

import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest

from manyhands.surfaces.page.inlining import FOLDER, single_page
from surfaces.page.browsing import open_page, recording, saved_page, until
from surfaces.page.colour_vision import SIMULATED, distance

APART = 15.0
STATES = ("good", "bad", "warn", "running")


def colours(theme: str) -> dict[str, str]:
    """The custom properties of a theme that are colours."""
    style = (FOLDER / "style.css").read_text()
    start = ":root{" if theme == "light" else ":root[data-theme=dark]{"
    block = style[style.index(start) : style.index("}", style.index(start))]
    found = dict(re.findall(r"--([\w-]+):(#[0-9a-f]{6}|#[0-9a-f]{3})\b", block))
    return {name: re.sub(r"^#(.)(.)(.)$", r"#\1\1\2\2\3\3", value) for name, value in found.items()}


@pytest.mark.parametrize("vision", SIMULATED)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_ten_kinds_are_apart_for_every_kind_of_colour_vision(theme: str, vision: str) -> None:
    """Five colours, plain and with stripes: two of the same colour are apart if its stripes can be seen."""
    found = colours(theme)
    kinds = [(name, is_striped) for is_striped in (False, True) for name in found if name.startswith("kind-")]
    assert len(kinds) == 10
    for (one, is_striped), (other, has_stripes) in itertools.combinations(kinds, 2):
        if one != other:
            assert distance(found[one], found[other], vision) >= APART, (one, other)
        else:
            assert is_striped != has_stripes
            assert distance(found[one], found["surface"], vision) >= APART, one


#: How each kind is painted on a canvas and beside its name: the colours of a tile with their shares, and the class.
PAINTED = """(kinds) => kinds.map((kind) => {
    const canvas = document.createElement("canvas"), c = canvas.getContext("2d");
    canvas.width = canvas.height = 60;
    c.fillStyle = manyhands.paint.kind(manyhands.model, kind, c);
    c.fillRect(0, 0, 60, 60);
    const { data } = c.getImageData(0, 0, 60, 60), shares = {};
    for (let i = 0; i < data.length; i += 4) {
        const name = "#" + [...data.slice(i, i + 3)].map((each) => each.toString(16).padStart(2, "0")).join("");
        shares[name] = (shares[name] ?? 0) + 1 / 3600;
    }
    const chip = [...document.querySelectorAll("#legend-kinds .chip")].find((each) => each.textContent.includes(kind));
    return [shares, chip.classList.contains("striped")];
})"""


@pytest.mark.xdist_group("page")
def test_ten_kinds_look_different_on_canvases_and_in_the_legend(browser: Any, tmp_path: Path) -> None:
    told = recording(40)
    kinds = [f"kind of {letter}" for letter in "abcdefghij"]
    for table in ("tasks", "bars"):
        told["snapshot"][table]["kind"] = [kinds[n % 10] for n in range(40)]
    page = open_page(browser, saved_page(tmp_path, single_page(json.dumps(told))), color_scheme="light")
    until(page, "document.querySelectorAll('#legend-kinds .chip').length === 10")
    found = colours("light")
    looks = set()
    for shares, is_striped in page.evaluate(PAINTED, kinds):
        (colour,) = (found[f"kind-{n}"] for n in range(5) if shares.get(found[f"kind-{n}"], 0) > 0.15)
        has_stripes = shares.get(found["surface"], 0) > 0.05
        assert has_stripes == is_striped
        assert has_stripes or shares[colour] > 0.999
        looks.add((colour, has_stripes))
    assert len(looks) == 10
    page.context.close()


@pytest.mark.parametrize("vision", SIMULATED)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_state_has_the_colour_of_a_kind_for_any_kind_of_colour_vision(theme: str, vision: str) -> None:
    found = colours(theme)
    for state in STATES:
        for name, colour in found.items():
            if name.startswith("kind-"):
                assert distance(found[state], colour, vision) >= 10, (state, name)
    style = (FOLDER / "style.css").read_text()
    assert re.findall(r"\[data-state[^{]*\{[^}]*--kind", style) == []


def test_a_state_is_told_by_a_sign_of_its_own_and_not_by_its_colour_alone() -> None:
    style = (FOLDER / "style.css").read_text()
    signs = dict(re.findall(r'\.state\[data-state=(\w+)\]::before\{content:"(.)"', style))
    coloured = {
        name for names in re.findall(r"\.state\[data-state=(\w+)\]::before\{[^}]*color", style) for name in [names]
    }
    assert coloured <= set(signs)
    assert {"done", "failed", "running", "backoff", "skipped"} <= set(signs)
    assert len(set(signs.values())) == len(signs)
    assert "○" not in signs.values(), "the sign of the others"
    bar = re.search(r"\.progress \[data-state=failed\],\.progress \[data-state=skipped\]\{([^}]*)", style)
    assert bar is not None
    assert "repeating-linear-gradient" in bar[1], "failures in a progress bar are striped"
    causes = (FOLDER / "js" / "causes.js").read_text()
    endings = re.findall(r'^\t(\w+): \{ label: "[^"]*", sign: "(.?)" \},$', causes, re.MULTILINE)
    assert len(endings) == len({sign for _, sign in endings}) >= 9


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_distance_is_that_of_known_pairs(theme: str) -> None:
    """Two values from the paper's own table of test data would need L*a*b*; black and white are known in any case."""
    assert distance("#ffffff", "#000000") == pytest.approx(100, abs=0.01)
    assert distance("#123456", "#123456") == 0
    assert distance("#ff0000", "#00ff00", "protanopia") < distance("#ff0000", "#00ff00")
