"""Why a task is where it is: every state and every obstacle, with numbers, what has to go first in front."""

from helpers import Player, a_host, a_task, writes
from manyhands.core import events as ev
from manyhands.core.clutch.fixed import Fixed
from manyhands.core.explain import can_never_run, explain
from manyhands.core.scheduler import Scheduler
from manyhands.core.starting import BYPASSES_MAX
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.host import Host, Rule, Width


def why(player: Player, id: str, run: str = "r") -> list[str]:
    return explain(player.book, player.book.runs[run].records[id], player.at)


def test_needs_that_are_open_are_named_with_their_states() -> None:
    player = Player()
    player.open(a_task("a"), a_task("b"), a_task("c", needs=("a", "b", "missing")))
    assert why(player, "c") == ["needs a (running), b (ready), missing (never submitted)"]
    player.add(*(a_task(f"n{n}") for n in range(7)), a_task("many", needs=tuple(f"n{n}" for n in range(7))))
    assert why(player, "many")[0].endswith("n4 (ready) and 2 more")


def test_a_running_task_says_where_which_attempt_and_for_how_long() -> None:
    player = Player()
    player.open(a_task("a"))
    player.wait(2.5)
    assert why(player, "a") == ["runs on local as attempt 1 for 2.5 s"]


def test_a_done_task_says_where_and_how_long_it_took() -> None:
    player = Player()
    player.open(a_task("a"))
    player.end("a", after_s=3.0)
    assert why(player, "a") == ["done on local by attempt 1 in 3.0 s"]


def test_a_delay_says_why_and_how_much_of_it_is_left() -> None:
    player = Player()
    player.open(a_task("a"))
    player.end("a", ending=Ending(EndingKind.OVERLOADED, "provider overloaded", retry_after_s=20.0))
    player.wait(5.0)
    assert why(player, "a") == ["provider overloaded; again in 15.0 s"]


def test_ended_and_deferred_tasks_say_what_came_between() -> None:
    player = Player()
    player.open(
        a_task("a", attempts=1), a_task("b", needs=("a",)), a_task("c", deferred=True), a_task("d", deferred=True)
    )
    player.end("a", ending=Ending(EndingKind.FAILED, "exit 1"))
    player.play(ev.CancelAsked(player.at, "r", "d", "no longer wanted"))
    assert [why(player, id) for id in "abcd"] == [
        ["exit 1 (attempt 1)"],
        ["it needs `a`, which failed"],
        ["deferred in the plan"],
        ["no longer wanted"],
    ]


def test_a_full_host_says_how_full() -> None:
    player = Player(a_host("gpu-1", width=2))
    player.open(*(a_task(f"t{n}") for n in range(3)))
    assert why(player, "t2") == ["waiting for a slot on gpu-1 (2 of 2; pinned)"]


def test_a_full_lane_says_how_full() -> None:
    player = Player(a_host(width=4, lanes={"code": 1}))
    player.open(a_task("a"), a_task("b"))
    assert why(player, "b") == ["waiting for a slot in lane code of local (1 of 1; set in the config)"]


def test_a_paused_host_says_why() -> None:
    player = Player()
    player.play(ev.HostPaused(0.0, "local", "quota used up"))
    player.open(a_task("a"))
    assert why(player, "a") == ["local is paused: quota used up; 1 task waits"]


def test_no_host_for_the_kind_is_said() -> None:
    player = Player(a_host(kinds=("text",)))
    player.open(a_task("a"))
    assert why(player, "a") == ["no host takes kind code with run"]


def test_missing_resources_are_counted() -> None:
    player = Player(a_host(width=4, resources={"gpu": 2.0}))
    player.open(a_task("a", resources={"gpu": 1.5}), a_task("b", resources={"gpu": 1.0}))
    assert why(player, "b") == ["local has 0.5 gpu free, but the task asks for 1"]


def test_barriers_name_each_other() -> None:
    player = Player(a_host(width=2))
    player.open(a_task("a"))
    player.add(a_task("alone", barrier=True), a_task("b"))
    assert why(player, "alone") == ["needs local alone (1 still running there)"]
    assert why(player, "b") == ["local is emptying for alone (1 still running there)"]
    player.end("a")
    assert why(player, "b") == ["alone runs alone on local"]


def test_a_claim_in_the_way_is_named_with_its_holder() -> None:
    player = Player(a_host(width=4))
    player.open(a_task("a", claims=writes("src/auth")))
    player.add(a_task("b", claims=writes("docs", "src/**")))
    assert why(player, "b") == ["src/** (to write) is held by a#1@local"]


def test_a_reserved_claim_names_who_it_is_kept_for() -> None:
    player = Player(a_host(width=2))
    player.open(*(a_task(f"s{n}", claims=writes(f"src/{n % 5}")) for n in range(40)))
    player.add(a_task("wide", claims=writes("src/**")))
    while not player.book.ready.reservations:
        player.end(player.running[0])
    player.add(a_task("late", claims=writes("src/9")))
    assert why(player, "late")[0] == f"its claims are reserved for wide, which was passed over {BYPASSES_MAX} times"


def test_the_bounds_of_runs_and_parents_are_told_with_numbers() -> None:
    player = Player(a_host(width=9))
    player.open(a_task("a", parent="epic"), a_task("b", parent="epic"), a_task("c"), concurrency=2, parents={"epic": 1})
    player.add(a_task("d"))
    assert why(player, "d") == ["run r has 2 of 2 in flight"]
    assert why(player, "b") == ["run r has 2 of 2 in flight", "parent epic has 1 of 1 children in flight"]


def test_a_rule_says_how_many_are_left() -> None:
    player = Player(a_host(width=4), rules=(Rule("audit", "code", 0),))
    player.open(a_task("a"), a_task("b"), a_task("audit", kind="audit"))
    assert why(player, "audit") == ["after kind code has at most 0 left (now 2)"]


def test_a_stopping_run_says_so_first() -> None:
    player = Player()
    player.open(a_task("a"), a_task("b"))
    player.play(ev.RunDrained(player.at, "r"))
    assert why(player, "b")[0] == "run r is stopping and starts nothing more"


def test_claims_come_before_slots_and_slots_before_the_runs_own_bound() -> None:
    player = Player(a_host(width=1))
    player.open(a_task("a", claims=writes("x")), a_task("b", claims=writes("x")), concurrency=1)
    assert why(player, "b") == [
        "x (to write) is held by a#1@local",
        "waiting for a slot on local (1 of 1; pinned)",
        "run r has 1 of 1 in flight",
    ]


def test_a_rate_that_is_used_up_says_so_and_when_it_is_over_the_task_starts() -> None:
    class Slow(Fixed):
        def start_at(self, at: float, kind: str, seen_bytes: int = 0) -> tuple[float, str]:
            return max(at, 5.0), "60 requests a minute" if at < 5.0 else ""

    scheduler = Scheduler(lambda *_: Slow(2))
    step = scheduler.handle([ev.HostsConfigured(0.0, (a_host(width=2),)), ev.RunOpened(0.0, "r")])
    step = scheduler.handle([ev.TasksSubmitted(0.0, "r", (a_task("a"),))])
    assert [command.at for command in step.commands] == [5.0]
    record = scheduler.book.runs["r"].records["a"]
    assert explain(scheduler.book, record, 0.0) == ["local: 60 requests a minute"]
    assert [type(d) for d in scheduler.handle([ev.Woke(5.0)]).decisions] == [ev.AttemptStarted]


def test_waiting_for_a_faster_host_is_told() -> None:
    player = Player(a_host("fast"), a_host("slow"))
    player.open(a_task("f", host="fast"), a_task("s", host="slow"))
    player.end("f", after_s=2.0)
    player.end("s", after_s=58.0)
    player.add(a_task("a"))
    player.add(a_task("b"))
    assert why(player, "b") == ["slow has room, but a slot elsewhere is worth waiting 2.0 s for"]


def test_explaining_a_task_makes_no_lane_for_it() -> None:
    player = Player(Host("local", width=Width(1, 1, 8)))
    player.open(a_task("a"), a_task("b", kind="text"))
    assert why(player, "b")[0].startswith("waiting for a slot on local (1 of 1; ")
    assert [*player.book.hosts["local"].lanes] == ["code"]
    player.end("a")
    assert [*player.book.hosts["local"].lanes] == ["code", "text"]


def test_a_task_that_waits_for_what_will_not_come_can_never_run() -> None:
    player = Player(a_host("small", 1, kinds=("code",), resources={"gpu": 1.0}))
    player.open(
        a_task("runs"),
        a_task("waits"),
        a_task("behind", needs=("runs",)),
        a_task("unknown-kind", kind="art"),
        a_task("too-large", resources={"gpu": 2.0}),
        a_task("orphan", needs=("nobody",)),
    )
    records = player.book.runs["r"].records
    never = {id for id, record in records.items() if can_never_run(player.book, record)}
    assert never == {"unknown-kind", "too-large", "orphan"}


def test_a_task_that_can_never_run_says_so_before_what_keeps_it_now() -> None:
    player = Player(a_host("w0", 2, kinds=("code",), resources={"gpu": 1.0}))
    everything = writes("**")
    player.open(
        a_task("holds", claims=everything),
        a_task("ghost", kind="ghost", claims=everything),
        a_task("large", resources={"gpu": 9.0}, claims=everything),
    )
    assert why(player, "ghost") == ["no host takes kind ghost with run", "** (to write) is held by holds#1@w0"]
    assert why(player, "large")[0] == "no host has the 9 gpu that it asks for; the most is 1"
