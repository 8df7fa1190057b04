"""Whatever happens around the dispatcher: what it promised holds, and everything comes to its end."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.sim.dispatcher_story import DispatcherStory, tell

IS_SOAK = bool(os.environ.get("MANYHANDS_SOAK"))
SEEDS = 2000 if IS_SOAK else 24
SLICES = 8
TESTS = Path(__file__).parents[2]
STORY = Path(__file__).parent / "dispatcher_story.py"


def told(seed: int) -> DispatcherStory:
    try:
        return tell(seed)
    except Exception as error:
        again = f".venv/bin/python {STORY.relative_to(TESTS.parent)} {seed}"
        raise AssertionError(f"{type(error).__name__}: {error}\nagain: {again}") from error


@pytest.mark.slow
@pytest.mark.parametrize("part", range(SLICES))
def test_any_story_of_a_dispatcher_keeps_its_promises_and_comes_to_its_end(part: int) -> None:
    for seed in range(part, SEEDS, SLICES):
        assert told(seed).seen["lives"] > 0, "a story in which no dispatcher lives shows nothing"


def test_the_stories_have_deaths_failures_and_every_sort_of_event() -> None:
    seen = sum((told(seed).seen for seed in range(1000, 1006)), start=told(999).seen)
    assert seen["lives"] > 40
    assert seen["failures"] > 0
    assert {deed for deed in seen if deed.startswith("death at")} >= {"death at append", "death at appended"}
    assert {"StopDecided", "RetryDecided", "WidthMoved", "FamilyMoved", "HostRead", "Delivered"} <= seen.keys()
    assert seen["DeliveryGivenUp"] > 0


@pytest.mark.slow
def test_a_story_is_the_same_to_the_byte_in_processes_with_other_hash_seeds() -> None:
    lines = set()
    for hash_seed in ("0", "1", "4711"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        story = subprocess.run(
            [sys.executable, STORY, "3", "4", "5"], env=environment, capture_output=True, text=True, check=False
        )
        assert story.returncode == 0, story.stderr
        lines.add(story.stdout)
    assert len(lines) == 1


def test_a_story_that_fails_names_the_command_that_tells_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(story: DispatcherStory) -> None:
        raise AssertionError("as planned")

    monkeypatch.setattr(DispatcherStory, "tell", fail)
    with pytest.raises(AssertionError, match=r"as planned\nagain: .*/dispatcher_story\.py 12$"):
        told(12)
