"""What an attempt costs is settled when it ends."""

import msgspec
import pytest

from helpers import Player, a_host, a_task
from manyhands.core import events as ev
from manyhands.core.values.ending import Ending, EndingKind, total_cost
from manyhands.core.values.host import Host, Prices

DEAR = a_host("model", 2, prices=Prices(tokens_in=3.0, tokens_out=15.0))
USED = Ending(EndingKind.DONE, tokens_in=1_000_000, tokens_out=200_000)


def cost_of(player: Player, task: str) -> float | None:
    last = player.book.runs["r"].records[task].last_ending
    assert last is not None
    return last.cost


def test_tokens_are_paid_for_by_the_prices_of_the_host() -> None:
    player = Player(DEAR)
    player.open(a_task("a"), a_task("b"))
    player.end("a", ending=USED)
    player.end("b")
    assert cost_of(player, "a") == pytest.approx(3.0 + 3.0)
    assert cost_of(player, "b") is None, "nothing is known of it"


def test_what_a_command_says_itself_goes_before_the_prices() -> None:
    player = Player(DEAR)
    player.open(a_task("a"), a_task("free"))
    player.end("a", ending=Ending(EndingKind.DONE, tokens_in=1_000_000, cost=0.25))
    player.end("free", ending=Ending(EndingKind.DONE, tokens_in=1_000_000, cost=0.0))
    assert (cost_of(player, "a"), cost_of(player, "free")) == (0.25, 0.0)


def test_other_prices_change_nothing_of_what_was_paid() -> None:
    player = Player(DEAR)
    player.open(a_task("before"), a_task("after"))
    player.end("before", ending=USED)
    player.play(ev.HostsConfigured(player.at, (a_host("model", 2, prices=Prices(tokens_in=1.0)),), ()))
    player.end("after", ending=USED)
    assert (cost_of(player, "before"), cost_of(player, "after")) == (pytest.approx(6.0), pytest.approx(1.0))


def test_a_stopped_attempt_was_paid_for_too() -> None:
    player = Player(DEAR)
    player.open(a_task("by-price"), a_task("as-told"))
    for task in ("by-price", "as-told"):
        player.play(ev.CancelAsked(player.at, "r", task))
    stopped = Ending(EndingKind.CANCELLED, "stopped", tokens_out=1_000_000)
    player.end("by-price", ending=stopped)
    player.end("as-told", ending=Ending(EndingKind.CANCELLED, "stopped", cost=0.5))
    assert (cost_of(player, "by-price"), cost_of(player, "as-told")) == (15.0, 0.5)


def test_what_commands_say_of_their_tokens_teaches_no_clutch() -> None:
    """One kind of command tells and another does not: the width would follow the mix of them."""

    def learned(form: dict[str, object], ending: Ending) -> bytes:
        player = Player(Host("h"))
        player.open(*(a_task(f"t{n}", **form) for n in range(20)))
        while player.running:
            player.end(*player.running, ending=ending)
        return msgspec.json.encode(player.book.hosts["h"].limit)

    silent = Ending(EndingKind.DONE)
    assert learned({}, USED) == learned({}, silent)
    model = {"run": (), "prompt": "hello"}
    assert learned(model, USED) != learned(model, silent), "what a server counts is its work"


def test_costs_add_up_to_none_only_if_none_is_known() -> None:
    assert total_cost([]) is None
    assert total_cost([None, None]) is None
    assert total_cost([None, 0.1, 0.2]) == pytest.approx(0.3)
