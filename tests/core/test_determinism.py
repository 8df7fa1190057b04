"""The same story in processes with other hash seeds: the same decisions, the same commands, the same state."""

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]

STORY = """
import hashlib
from engine.sim.random_world import World
from manyhands.core import snapshot
digest = hashlib.sha256()
for seed in range(12):
    world = World(seed)
    play = world.play
    def recorded(*happened):
        commands = play(*happened)
        digest.update(repr(commands).encode())
        return commands
    world.play = recorded
    world.live(steps=50)
    world.come_to_rest()
    digest.update(repr(world.journal).encode())
    digest.update(snapshot.save(world.scheduler))
print(digest.hexdigest())
"""


def test_processes_with_different_hash_seeds_tell_the_same_story() -> None:
    digests = set()
    for hash_seed in ("0", "1", "4711"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(TESTS)}
        told = subprocess.run(
            [sys.executable, "-c", STORY], env=environment, capture_output=True, text=True, check=False
        )
        assert told.returncode == 0, told.stderr
        digests.add(told.stdout)
    assert len(digests) == 1
