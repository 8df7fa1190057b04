"""Why a host is idle: only tasks that it takes count, by their kind and by what they bring."""

import pytest

from helpers import Player, a_host, a_task, writes
from manyhands.core import events as ev
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.spending_limit import DAY_LENGTH_S, Scope, SpendingLimit
from manyhands.surfaces.api.picture.picture import Picture


def test_tasks_that_a_host_cannot_run_do_not_explain_why_it_is_idle() -> None:
    """Both hosts take every kind, but the waiting task is a prompt, and one of them runs commands only."""
    player = Player(a_host("commands", 1, takes=("run",)), a_host("models", 1, takes=("prompt",)))
    picture = Picture(player.book)
    player.open(a_task("later", run=(), prompt="say hello", deferred=True))
    picture.changes(player.journal)
    [told] = [row for row in picture.standing() if row["t"] == "idle"]
    assert {row["host"]: row["cause"] for row in told["idle"]} == {"commands": "no work", "models": "deferred"}
    assert Picture(player.book).standing()[0]["idle"] == told["idle"]


def causes(player: Player) -> list[tuple[str, str, float | None]]:
    picture = Picture(player.book)
    [told] = [row for row in picture.standing() if row["t"] == "idle"]
    return [(row["cause"], row["detail"], row.get("until")) for row in told["idle"]]


def test_a_host_in_its_quiet_hours_is_idle_because_of_them() -> None:
    player = Player(a_host("local", 1, quiet=((0, 6 * 60),)))
    player.open(a_task("a"))
    assert causes(player) == [("quiet", "local is quiet until 06:00 UTC", 6 * 3600.0)]


@pytest.mark.parametrize(
    ("per", "of", "until"),
    [("run", "run r", None), ("day", "the day", DAY_LENGTH_S), ("host", "host local", DAY_LENGTH_S)],
)
def test_a_host_that_a_budget_holds_is_idle_because_of_it(per: Scope, of: str, until: float | None) -> None:
    player = Player()
    player.play(ev.HostsConfigured(0.0, (a_host("local", 1),), budgets=(SpendingLimit(name="b", per=per, cost=1.0),)))
    player.open(a_task("a"), a_task("b"))
    player.end("a", ending=Ending(EndingKind.DONE, cost=2.0))
    [(cause, detail, told_until)] = causes(player)
    assert (cause, told_until) == ("budget", until)
    assert f"budget b of {of} is used up: cost 2.00 of at most 1.00" in detail


def test_a_task_that_asks_for_what_no_host_has_can_never_run_and_nothing_is_short() -> None:
    player = Player(a_host("w0", 2))
    picture = Picture(player.book)
    player.open(a_task("large", resources={"gpu": 9.0}))
    picture.changes(player.journal)
    [row] = picture.snapshot()["idle"] or picture.standing()[0]["idle"]
    assert (row["cause"], row["detail"]) == ("never", "1 task can never run: no host has what it asks for")


def test_with_several_runs_each_is_told_what_keeps_it_from_the_host() -> None:
    player = Player(a_host("w0", 2))
    picture = Picture(player.book)
    player.open(a_task("large", resources={"gpu": 9.0}), run="one")
    player.open(a_task("holds", claims=writes("a")), a_task("waits", claims=writes("a")), run="two")
    picture.changes(player.journal)
    [told] = [row for row in picture.standing() if row["t"] == "idle"]
    [row] = told["idle"]
    assert (row["cause"], row["detail"]) == ("claims", "waits waits: a (to write) is held by holds#1@w0")
    assert {name: why["cause"] for name, why in row["runs"].items()} == {"one": "never"}
