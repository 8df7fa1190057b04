"""Whatever happens, in whatever order: the book is sound, nothing is stuck, and the journal tells it all."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from engine.sim.random_world import World, unfinished_without_reason

SEEDS = 5000 if os.environ.get("MANYHANDS_SOAK") else 300
SLICES = 20


@pytest.mark.slow
@pytest.mark.parametrize("part", range(SLICES))
@pytest.mark.campaign("random stories of the core", SEEDS // SLICES, "stories")
def test_any_story_is_sound_at_every_step_and_comes_to_rest(part: int) -> None:
    for seed in range(part, SEEDS, SLICES):
        try:
            tell(seed)
        except Exception as error:
            again = shlex.join([".venv/bin/python", "-c", replaying(seed)])
            raise AssertionError(f"{type(error).__name__}: {error}\nagain: {again}") from error


def replaying(seed: int) -> str:
    return f'import sys; sys.path.insert(0, "tests"); from engine.sim.test_core_properties import tell; tell({seed})'


def test_the_command_that_is_told_plays_a_story_again() -> None:
    command = [sys.executable, "-c", replaying(7)]
    done = subprocess.run(command, cwd=Path(__file__).parents[3], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def tell(seed: int) -> World:
    world = World(seed)
    world.live(steps=60)
    world.come_to_rest()
    assert unfinished_without_reason(world.scheduler) == []
    world.put_away()
    world.crash()
    return world


def test_the_stories_are_not_all_the_same_or_empty() -> None:
    worlds = [tell(seed) for seed in range(20)]
    assert sum(world.starts for world in worlds) > 200
    kinds = {type(event).__name__ for world in worlds for event in world.journal}
    assert {"StopDecided", "RetryDecided", "WidthMoved", "CancelAsked", "RetryAsked", "RunStopped"} <= kinds
