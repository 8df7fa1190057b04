"""What earlier runs taught goes before what the config guesses."""

import pytest

from helpers import Player, a_task
from manyhands.core import events as ev
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.host import Host, Width

FAILED = Ending(EndingKind.FAILED, "exit code 3")


@pytest.mark.parametrize("start", [None, 8])
def test_a_start_in_the_config_does_not_widen_a_lane_that_memory_knows_to_be_hard(start: int | None) -> None:
    host = Host("local", width=Width(start=start))
    player = Player(host)
    player.open(*(a_task(f"t{n}", attempts=1) for n in range(30)))
    while player.running:
        player.end(*player.running, ending=FAILED)
    player.play(ev.HostsConfigured(player.at, (host,)))
    assert player.book.hosts["local"].lane("code").width == 1
    assert player.book.hosts["local"].lane("text").width == player.book.hosts["local"].width
