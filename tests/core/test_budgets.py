"""Budgets hold what would cost too much: of tasks, runs, hosts, accounts and days, with what is in flight counted."""

from helpers import Player, a_host, a_task
from manyhands.core import events as ev
from manyhands.core import snapshot
from manyhands.core.commands import RunEnded
from manyhands.core.explain import explain
from manyhands.core.scheduler import Scheduler
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.host import Host
from manyhands.core.values.spending_limit import DAY_LENGTH_S, SpendingLimit


def a_player(*limits: SpendingLimit, hosts: tuple[Host, ...] = ()) -> Player:
    player = Player()
    player.play(ev.HostsConfigured(player.at, hosts or (a_host(width=4),), budgets=limits))
    return player


def paid(cost: float = 1.0, tokens: int = 0, kind: EndingKind = EndingKind.DONE) -> Ending:
    return Ending(kind, cost=cost, tokens_in=tokens)


def why(player: Player, task: str) -> list[str]:
    return explain(player.book, player.book.runs["r"].records[task], player.at)


def reached(player: Player) -> list[tuple[str, str, bool]]:
    return [(one.budget, one.key, one.soft) for one in player.journal if isinstance(one, ev.BudgetReached)]


def test_a_run_stops_before_what_is_in_flight_would_pass_its_budget() -> None:
    player = a_player(SpendingLimit(name="careful", per="run", cost=3.0), hosts=(a_host(width=1),))
    player.open(*(a_task(f"t{n}") for n in range(10)))
    player.end("t0", ending=paid(1.0))
    player.end("t1", ending=paid(1.0))
    assert player.running == ["t2"]
    assert player.book.runs["r"].budget_hold is not None, "2 are spent, and 1 is expected"
    player.end("t2", ending=paid(0.5))
    assert player.running == ["t3"], "it was cheaper, so there is room for one more"
    commands = player.end("t3", ending=paid(1.0))
    assert RunEnded("r") in commands, "nothing more happens without a person"
    assert why(player, "t4") == ["budget careful of run r is used up: cost 3.50 of at most 3.00"]
    assert reached(player) == [("careful", "r", False)]
    player.play(ev.BudgetRaised(player.at, "careful", "r"))
    assert player.running == ["t4"]


def test_a_wide_host_does_not_start_ten_at_once_when_there_is_money_for_two() -> None:
    player = a_player(SpendingLimit(name="careful", per="run", cost=4.0), hosts=(a_host(width=10),))
    player.open(a_task("first"))
    player.end("first", ending=paid(1.0))
    player.add(*(a_task(f"t{n}") for n in range(10)))
    assert len(player.running) == 3
    assert "cost 4.00 of at most 4.00, 3.00 of it expected of what runs" in why(player, "t9")[0]


def test_a_task_that_has_used_up_its_budget_waits_for_a_person_and_others_continue() -> None:
    player = a_player(SpendingLimit(name="each", per="task", tokens=100))
    player.open(a_task("a", attempts=9), a_task("b"))
    player.end("a", ending=paid(0.0, 60, EndingKind.FAILED))
    player.wait(100.0)
    player.end("a", ending=paid(0.0, 60, EndingKind.FAILED))
    assert player.states("ab") == ["deferred", "running"]
    assert player.cause("a") == "budget each of task r/a is used up: 120 tokens of at most 100"
    player.at += 1.0
    player.play(ev.ResumeAsked(player.at, "r", "a"))
    assert player.state("a") == "running"
    player.end("a", ending=paid(0.0, 60, EndingKind.FAILED))
    assert player.state("a") == "backoff", "it counts from when a person let it continue"


def test_a_day_holds_the_hosts_that_cost_something_until_midnight() -> None:
    hosts = a_host("paid", width=1, kinds=("code",)), a_host("free", width=1, kinds=("shell",))
    player = a_player(SpendingLimit(name="daily", per="day", cost=2.0), hosts=hosts)
    player.open(*(a_task(f"t{n}") for n in range(9)), a_task("s", kind="shell"), a_task("s2", kind="shell"))
    player.end("t0", ending=paid(1.0))
    player.end("t1", ending=paid(1.0))
    assert player.running == ["s"]
    assert why(player, "t2") == ["paid: budget daily of the day is used up: cost 2.00 of at most 2.00"]
    player.end("s", ending=paid(0.0))
    assert player.running == ["s2"], "what costs nothing continues"
    player.wait(DAY_LENGTH_S - player.at - 1.0)
    assert player.running == ["s2"]
    player.wait(1.0)
    assert player.running == ["s2", "t2"]
    assert reached(player) == [("daily", "", False)]


def test_a_soft_budget_is_told_once_and_holds_nothing() -> None:
    player = a_player(SpendingLimit(name="watch", per="host", cost=1.0, soft=True))
    player.open(*(a_task(f"t{n}") for n in range(6)))
    for n in range(6):
        player.end(f"t{n}", ending=paid(1.0))
    assert player.book.runs["r"].counts["done"] == 6  # type: ignore[index]
    assert reached(player) == [("watch", "local", True)]


def test_an_account_holds_all_its_hosts_and_no_other() -> None:
    hosts = tuple(a_host(name, width=1, account=account) for name, account in (("a", "x"), ("b", "x"), ("c", "y")))
    player = a_player(SpendingLimit(name="account", per="account", cost=2.0, of=("x",)), hosts=hosts)
    player.open(*(a_task(f"t{n}") for n in range(12)))
    for _ in range(4):
        player.end(*player.running, ending=paid(1.0))
    assert {one.host.name for one in player.book.running.values()} == {"c"}
    player.play(ev.BudgetRaised(player.at, "account", "x"))
    assert {one.host.name for one in player.book.running.values()} > {"c"}


def test_a_journal_and_a_snapshot_have_what_was_spent() -> None:
    player = a_player(SpendingLimit(name="careful", per="run", cost=2.0), hosts=(a_host(width=1),))
    player.open(*(a_task(f"t{n}") for n in range(4)))
    player.end("t0", ending=paid(1.0, 10))
    player.end("t1", ending=paid(1.5, 10))
    replayed, restored = Scheduler(), Scheduler()
    replayed.replay(player.journal)
    assert snapshot.load(restored, snapshot.save(player.scheduler))
    restored.replay([])
    assert snapshot.save(replayed) == snapshot.save(player.scheduler) == snapshot.save(restored)
    for one in (replayed, restored):
        assert explain(one.book, one.book.runs["r"].records["t3"], player.at) == why(player, "t3")
