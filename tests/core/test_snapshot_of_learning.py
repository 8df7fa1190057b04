"""What a host has learned survives a snapshot to the byte: else a restart would decide otherwise than a replay."""

from helpers import Player, a_task
from manyhands.core import events as ev
from manyhands.core import snapshot
from manyhands.core.scheduler import Scheduler
from manyhands.core.values.host import Host
from manyhands.core.values.widths import Reading


def assert_survives_a_snapshot(player: Player) -> None:
    saved = snapshot.save(player.scheduler)
    loaded = Scheduler()
    assert snapshot.load(loaded, saved)
    assert snapshot.save(loaded) == saved


def test_a_host_at_work_whose_memory_is_forgotten() -> None:
    player = Player(Host("local"))
    player.open(a_task("a"), a_task("b"))
    player.end("a")
    player.play(ev.MemoryForgotten(player.at, "local"))
    assert_survives_a_snapshot(player)


def test_a_host_that_shows_the_memory_of_its_attempts() -> None:
    player = Player(Host("local"))
    player.open(a_task("a"))
    seen = Reading(player.at, "local", memory_total_bytes=8, memory_used_bytes=5, attempt_bytes={1: 3}, cores=2)
    player.play(ev.HostRead(player.at, "local", seen))
    assert_survives_a_snapshot(player)
