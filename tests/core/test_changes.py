"""What a person changes of a task that waits, and how that stands against what the backlog says."""

from helpers import Player, a_host, a_task
from manyhands.apps.serve.live_backlog import WantedTasks
from manyhands.apps.serve.plan_backlog import reconcile_plan
from manyhands.core import events as ev
from manyhands.core import snapshot
from manyhands.core.scheduler import Scheduler
from manyhands.core.values.task import Task, TaskState
from manyhands.core.values.task_change import TaskChange
from manyhands.engine.task_changes import why_not_changed


def change(player: Player, id: str, **values: object) -> None:
    player.play(ev.ChangeAsked(player.at, "r", id, TaskChange(**values)))  # type: ignore[arg-type]


def look(player: Player, *tasks: Task) -> list[ev.Input]:
    """The backlog is compared with its run, as `serve` does."""
    steps = reconcile_plan(WantedTasks({task.id: task for task in tasks}), player.book.runs["r"], player.at)
    if steps.events:
        player.play(*steps.events)
    return steps.events


def test_a_draft_waits_until_it_is_published() -> None:
    player = Player(a_host(width=3))
    player.open(a_task("idea", stage="draft"), a_task("agreed", stage="planned"), a_task("now"))
    assert player.states(("idea", "agreed", "now")) == ["deferred", "deferred", "running"]
    assert "task publish idea" in player.cause("idea")
    change(player, "idea", stage="planned")
    assert player.state("idea") is TaskState.DEFERRED
    change(player, "idea", stage="")
    change(player, "agreed", stage="")
    assert player.running == ["now", "idea", "agreed"]


def test_a_published_task_still_waits_for_its_needs() -> None:
    player = Player(a_host(width=3))
    player.open(a_task("a"), a_task("idea", stage="draft", needs=("a",)))
    change(player, "idea", stage="")
    assert player.state("idea") is TaskState.BLOCKED
    player.end("a")
    assert player.running == ["idea"]


def test_a_changed_priority_and_changed_needs_decide_what_starts() -> None:
    player = Player(a_host(width=1))
    player.open(a_task("running"), a_task("a"), a_task("b"), a_task("c"))
    change(player, "c", priority=0)
    change(player, "a", needs=("b",))
    for id in ("running", "c", "b", "a"):
        assert player.running == [id]
        player.end(id)


def test_a_task_that_runs_or_has_ended_is_not_changed() -> None:
    player = Player(a_host(width=1))
    player.open(a_task("a"))
    change(player, "a", priority=0)
    player.end("a")
    change(player, "a", priority=0)
    assert player.book.runs["r"].records["a"].task.priority == 2


def test_a_change_stays_until_the_backlog_says_something_else_of_that_field() -> None:
    player = Player(a_host(width=1))
    plan = [a_task("running"), a_task("a", priority=3), a_task("idea", stage="draft")]
    player.open(*plan)
    change(player, "a", priority=1, title="mine")
    change(player, "a", priority=0)
    change(player, "idea", stage="")
    assert look(player, *plan) == [], "the plan is as it was, so what the person wants stands"
    look(player, plan[0], a_task("a", priority=4), plan[2])
    record = player.book.runs["r"].records["a"]
    assert (record.task.priority, record.task.title) == (4, "mine"), "the plan has changed the priority, not the title"
    assert player.state("idea") is TaskState.READY


def test_changes_survive_a_replay_and_a_snapshot() -> None:
    player = Player(a_host(width=1))
    plan = [a_task("running"), a_task("a", priority=3), a_task("idea", stage="draft")]
    player.open(*plan)
    change(player, "a", priority=1, needs=("running",))
    replayed, loaded = Scheduler(), Scheduler()
    replayed.replay(player.journal)
    assert snapshot.load(loaded, snapshot.save(replayed))
    kept = player.book.runs["r"].records["a"].changed
    for book in (replayed.book, loaded.book):
        assert book.runs["r"].records["a"].changed == kept
        assert reconcile_plan(WantedTasks({t.id: t for t in plan}), book.runs["r"], 9.0).events == []


def test_changes_that_make_no_sense_are_refused() -> None:
    player = Player(a_host(width=1))
    player.open(a_task("running", priority=0), a_task("a"), a_task("b", needs=("a",)))
    run = player.book.runs["r"]

    def refused(id: str, **values: object) -> str:
        return why_not_changed(run, run.records[id], TaskChange(**values))  # type: ignore[arg-type]

    assert refused("a", priority=1) == ""
    assert "is running" in refused("running", priority=1)
    assert "wait for each other" in refused("a", needs=("b",))
    assert "there is no task `c`" in refused("a", needs=("c",))
    assert "break the rules" in refused("a", priority=9)
    assert "nothing" in refused("a")
