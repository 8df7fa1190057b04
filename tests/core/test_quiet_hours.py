"""A host with quiet hours starts nothing then, finishes what runs, and continues by itself afterwards."""

import pytest

from helpers import Player, a_host, a_task
from manyhands.core import snapshot
from manyhands.core.commands import WakeAt
from manyhands.core.explain import explain
from manyhands.core.quiet import quiet_until
from manyhands.core.scheduler import Scheduler

HOUR_S, DAY_S = 3600.0, 86400.0
NIGHT = ((22 * 60, 6 * 60),)


@pytest.mark.parametrize(
    ("spans", "at_h", "until_h"),
    [
        (NIGHT, 12.0, None),
        (NIGHT, 21.99, None),
        (NIGHT, 22.0, 30.0),
        (NIGHT, 23.5, 30.0),
        (NIGHT, 24.0 + 5.5, 30.0),
        (NIGHT, 24.0 + 6.0, None),
        (((9 * 60, 12 * 60), (12 * 60, 14 * 60)), 10.0, 14.0),
        (((0, 12 * 60),), 3.0, 12.0),
    ],
)
def test_when_it_is_quiet(spans: tuple[tuple[int, int], ...], at_h: float, until_h: float | None) -> None:
    assert quiet_until(spans, at_h * HOUR_S) == (None if until_h is None else until_h * HOUR_S)


def test_nothing_starts_in_quiet_hours_and_other_hosts_continue() -> None:
    player = Player(a_host("loud", kinds=("code",), quiet=NIGHT), a_host("other", kinds=("docs",)))
    player.at = 21.9 * HOUR_S
    player.open(a_task("a"), a_task("b"), a_task("c", kind="docs"), a_task("d", kind="docs"))
    assert player.running == ["a", "c"]
    player.wait(0.2 * HOUR_S)
    player.end("a", "c")
    assert player.running == ["d"], "what ran has finished, and nothing follows it there"
    record = player.book.runs["r"].records["b"]
    assert explain(player.book, record, player.at) == ["loud is quiet until 06:00 UTC"]
    assert WakeAt(DAY_S + 6 * HOUR_S) in player.commands
    restored = Scheduler()
    assert snapshot.load(restored, snapshot.save(player.scheduler))
    restored.replay([])
    assert explain(restored.book, restored.book.runs["r"].records["b"], player.at) == ["loud is quiet until 06:00 UTC"]
    player.wait(DAY_S + 6 * HOUR_S - player.at)
    assert player.running == ["d", "b"]
