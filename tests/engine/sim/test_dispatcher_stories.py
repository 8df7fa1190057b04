"""Whatever happens around the dispatcher: what it promised holds, and everything comes to its end."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.sim.dispatcher_story import DispatcherStory, shortest_that_fails, tell
from engine.sim.fault_profiles import PROFILES

IS_SOAK = bool(os.environ.get("MANYHANDS_SOAK"))
#: Of each profile of faults.
SEEDS = 2000 if IS_SOAK else 12
TESTS = Path(__file__).parents[2]
STORY = Path(__file__).parent / "dispatcher_story.py"


def told(seed: int, profile: str = "everything") -> DispatcherStory:
    try:
        return tell(profile, seed)
    except Exception as error:
        again = f".venv/bin/python {STORY.relative_to(TESTS.parent)} {profile} {seed}"
        raise AssertionError(f"{type(error).__name__}: {error}\nagain: {again}") from error


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.campaign("stories of a dispatcher with simulated faults", SEEDS, "stories")
def test_any_story_of_a_dispatcher_keeps_its_promises_and_comes_to_its_end(profile: str) -> None:
    for seed in range(SEEDS):
        assert told(seed, profile).seen["lives"] > 0, "a story in which no dispatcher lives shows nothing"


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
            [sys.executable, STORY, "everything", "3", "4", "5"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert story.returncode == 0, story.stderr
        lines.add(story.stdout)
    assert len(lines) == 1


def test_a_story_that_fails_names_the_command_that_tells_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(story: DispatcherStory) -> None:
        raise AssertionError("as planned")

    monkeypatch.setattr(DispatcherStory, "tell", fail)
    with pytest.raises(AssertionError, match=r"as planned\nagain: .*/dispatcher_story\.py everything 12$"):
        told(12)


def test_each_profile_has_many_of_its_faults() -> None:
    marks = {
        "everything": ("crash", 10),
        "crashes": ("death at start", 3),
        "disk": ("lost answer", 5),
        "clock": ("clock jump", 40),
        "hosts": ("ended lost", 40),
        "endings": ("told late", 40),
        "storms": ("ended overloaded", 50),
        "damage": ("damage named", 8),
        "deliveries": ("DeliveryGivenUp", 1),
    }
    assert marks.keys() == PROFILES.keys()
    for profile, (deed, times) in marks.items():
        seen = sum((told(seed, profile).seen for seed in range(2000, 2008)), start=told(1999, profile).seen)
        assert seen[deed] >= times, (profile, deed, seen)


def test_a_failing_story_is_cut_to_the_trouble_that_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail_after_half_a_minute(story: DispatcherStory) -> None:
        assert story._trouble_s < 30.0

    monkeypatch.setattr(DispatcherStory, "tell", fail_after_half_a_minute)
    least_s = shortest_that_fails("crashes", 5)
    assert least_s is not None
    assert 30.0 <= least_s < 31.0
    monkeypatch.setattr(DispatcherStory, "tell", lambda story: None)
    assert shortest_that_fails("crashes", 5) is None
