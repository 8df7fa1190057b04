"""A run that waits says for what: a host in quiet hours and a budget that is used up are told once each."""

from helpers import Player, a_host, a_task
from manyhands.core import events as ev
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.host import Host
from manyhands.core.values.spending_limit import DAY_LENGTH_S, Scope, SpendingLimit
from manyhands.surfaces.cli.happenings import Happenings

PAID = Ending(EndingKind.DONE, cost=2.0)


def told(player: Player, run: str = "r") -> list[tuple[str, str, str]]:
    """What is said of holds, batch by batch, as a watcher that was there from the beginning says it."""
    happenings = Happenings(player.book, run)
    return [
        (one.what, one.name, one.text) for one in happenings.read(player.journal) if one.what in ("quiet", "budget")
    ]


def with_budget(per: Scope, host: Host) -> Player:
    player = Player()
    player.play(ev.HostsConfigured(0.0, (host,), budgets=(SpendingLimit(name="b", per=per, cost=1.0),)))
    player.open(a_task("a"), a_task("b"))
    player.end("a", ending=PAID)
    return player


def test_quiet_hours_are_told_with_their_end() -> None:
    player = Player(a_host("local", 1, quiet=((0, 6 * 60),)))
    player.open(a_task("a"))
    assert told(player) == [("quiet", "local", "local is quiet until 06:00 UTC, in 6h")]


def test_a_budget_is_told_with_where_it_is_raised() -> None:
    [(what, name, text)] = told(with_budget("day", a_host("local", 1)))
    assert (what, name) == ("budget", "local")
    assert text.startswith("budget b of the day is used up: cost 2.00 of at most 1.00; it begins anew in ")
    assert text.endswith("; `manyhands inbox` has the command that raises it")


def test_the_budget_of_a_run_is_told_in_that_run() -> None:
    player = with_budget("run", a_host("local", 1))
    [(what, name, text)] = told(player)
    assert (what, name) == ("budget", "r")
    assert text == (
        "budget b of run r is used up: cost 2.00 of at most 1.00; `manyhands inbox` has the command that raises it"
    )


def test_a_hold_is_told_once_until_it_has_ended() -> None:
    player = Player(a_host("local", 1, quiet=((0, 6 * 60),)))
    happenings = Happenings(player.book, "r")
    player.open(a_task("a"), a_task("b"))
    said = [one.text for _ in range(3) for one in happenings.read(player.journal)]
    assert len(said) == 1
    player.wait(7 * 3600.0)
    assert [one for one in happenings.read([player.journal[-1]]) if one.what == "quiet"] == []
    player.end("a")
    player.wait(DAY_LENGTH_S - player.at + 1.0)
    player.end("b")
    player.add(a_task("c"))
    assert [one.what for one in happenings.read([player.journal[-1]])] == ["quiet"], "the next night is told too"
