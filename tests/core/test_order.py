"""Which ready task comes next: priority, then the longest chain or the most contended claim, then age."""

from helpers import Player, a_host, a_task, writes
from manyhands.core import events as ev


def test_more_urgent_tasks_start_first_whatever_their_place_in_the_plan() -> None:
    player = Player()
    player.open(*(a_task(f"p{priority}", priority=priority) for priority in (4, 2, 0, 3, 1)))
    assert player.run_to_end() == ["p0", "p1", "p2", "p3", "p4"]


def test_equal_tasks_start_in_the_order_of_the_plan() -> None:
    player = Player()
    player.open(*(a_task(f"t{n}") for n in range(5)))
    assert player.run_to_end() == ["t0", "t1", "t2", "t3", "t4"]


def test_the_task_with_the_longest_chain_behind_it_starts_first() -> None:
    player = Player()
    player.open(
        a_task("alone"),
        a_task("short"),
        a_task("after-short", needs=("short",)),
        a_task("long"),
        a_task("middle", needs=("long",)),
        a_task("end", needs=("middle",)),
    )
    assert player.run_to_end()[:2] == ["long", "short"]


def test_a_chain_counts_though_it_is_submitted_later_in_the_same_breath() -> None:
    player = Player()
    player.play(
        ev.RunOpened(0.0, "r"),
        ev.TasksSubmitted(0.0, "r", (a_task("alone"), a_task("root"))),
        ev.TasksSubmitted(0.0, "r", (a_task("leaf", needs=("root",)),)),
    )
    assert player.started == ["root"]


def test_a_chain_of_thousands_listed_backwards_is_no_problem() -> None:
    player = Player()
    tasks = [a_task(f"t{n}", needs=(f"t{n - 1}",) if n else ()) for n in range(3000)]
    player.scheduler.handle([ev.RunOpened(0.0, "r"), ev.TasksSubmitted(0.0, "r", tuple(reversed(tasks)))])
    assert player.running == ["t0"]


def test_the_most_contended_claim_starts_first() -> None:
    player = Player(a_host(width=1))
    player.open(
        a_task("cold", claims=writes("cold.py")),
        a_task("hot-1", claims=writes("hot.py")),
        a_task("hot-2", claims=writes("hot.py")),
        a_task("hot-3", claims=writes("hot.py")),
    )
    assert player.run_to_end()[:2] == ["hot-1", "hot-2"]  # then one of each is left, and the older goes first


def test_priority_outweighs_chains_and_claims() -> None:
    player = Player()
    player.open(a_task("root"), a_task("leaf", needs=("root",)), a_task("urgent", priority=1))
    assert player.started == ["urgent"]


def test_one_at_a_time_is_the_order_of_the_plan_even_with_chains_and_claims() -> None:
    player = Player(a_host("one", width=4), a_host("two", width=4, kinds=("text",)))
    player.open(
        a_task("cold", claims=writes("cold.py")),
        a_task("text", kind="text"),
        a_task("hot-1", claims=writes("hot.py")),
        a_task("root"),
        a_task("hot-2", claims=writes("hot.py")),
        a_task("leaf", needs=("root",)),
        a_task("later", priority=3),
        a_task("urgent", priority=0),
        concurrency=1,
    )
    assert player.run_to_end() == ["urgent", "cold", "text", "hot-1", "root", "hot-2", "leaf", "later"]
    assert player.book.runs["r"].peak == 1


def test_a_run_that_goes_on_one_at_a_time_goes_on_in_the_order_of_the_plan() -> None:
    player = Player(a_host(width=1))
    player.open(a_task("first"), a_task("second"), a_task("root"), a_task("leaf", needs=("root",)))
    assert player.started == ["root"]
    player.play(ev.RunResumed(player.at, "r", concurrency=1))
    assert player.run_to_end() == ["root", "first", "second", "leaf"]


def test_a_run_that_goes_on_wide_goes_by_the_longest_chain_again() -> None:
    player = Player(a_host(width=1))
    player.open(a_task("a"), a_task("b"), a_task("root"), a_task("leaf", needs=("root",)), concurrency=1)
    player.play(ev.RunResumed(player.at, "r", concurrency=None))
    assert player.run_to_end() == ["a", "root", "b", "leaf"]
