"""The age of the queue follows what waits, by the same events a dispatcher records."""

import random

import pytest

from helpers import Player, a_host, a_task
from manyhands.core import events as ev
from manyhands.core.state import Run
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.host import Rule
from manyhands.core.values.task import TaskState
from manyhands.surfaces.api.ended_attempts import EndedAttempts
from manyhands.surfaces.api.picture.queue_age import QueueAge


class Queue:
    """Plays to a scheduler and tells of each batch, as a dispatcher does."""

    def __init__(self, *rules: Rule) -> None:
        self.player = Player(a_host(), rules=rules)
        self.age = QueueAge(self.player.book)
        self.in_flight = EndedAttempts(self.player.book)

    def play(self, *happened: ev.Input) -> None:
        told = len(self.player.journal)
        self.player.play(*happened)
        batch = self.player.journal[told:]
        self.age.recorded(batch, self.in_flight.ended(batch))

    def now(self, at: float) -> float:
        return self.age(self.player.book.runs["r"], at)


def slowly(run: Run, now: float) -> float:
    """The same by looking at every task."""
    waits = [
        record.since
        for record in run.records.values()
        if record.state is TaskState.READY or (record.held and record.state is TaskState.DEFERRED)
    ]
    waits += [r.until for r in run.records.values() if r.state is TaskState.BACKOFF]
    return max(0.0, now - min(waits)) if waits else 0.0


def opened(*tasks: object, **fields: object) -> Queue:
    queue = Queue()
    queue.play(ev.RunOpened(0.0, "r"), ev.TasksSubmitted(0.0, "r", tasks))  # type: ignore[arg-type]
    return queue


def test_a_task_waits_from_when_its_needs_are_done() -> None:
    queue = opened(a_task("a"), a_task("b", needs=("a",)), a_task("c", needs=("a",)))
    assert queue.now(5.0) == 0.0
    queue.play(ev.AttemptEnded(7.0, 1, Ending(EndingKind.DONE)))  # b starts, c waits
    assert queue.now(10.0) == 3.0


def test_a_task_in_backoff_waits_from_when_that_is_over() -> None:
    queue = opened(a_task("a"), a_task("b"))
    queue.play(ev.AttemptEnded(1.0, 1, Ending(EndingKind.FAILED)))  # b takes the place
    until = queue.player.book.runs["r"].records["a"].until
    assert queue.now(until - 0.01) == 0.0
    assert queue.now(until + 4.0) == 4.0
    queue.play(ev.Woke(until + 1.0))
    assert queue.now(until + 4.0) == 4.0


def test_one_put_off_and_let_go_again_waits_anew() -> None:
    queue = opened(a_task("a"), a_task("b"))
    assert queue.now(2.0) == 2.0
    queue.play(ev.DeferAsked(3.0, "r", "b"))
    assert queue.now(4.0) == 0.0
    queue.play(ev.ResumeAsked(6.0, "r", "b"))
    assert queue.now(8.0) == 2.0


def test_a_dispatcher_that_starts_finds_what_has_waited_before_it() -> None:
    queue = opened(a_task("a"), a_task("b"), a_task("c"))
    again = QueueAge(queue.player.book)
    assert again(queue.player.book.runs["r"], 9.0) == 9.0


@pytest.mark.parametrize("seed", range(30))
def test_it_agrees_with_a_look_at_every_task_whatever_happens(seed: int) -> None:
    rng = random.Random(seed)
    queue = Queue(Rule("late", "code", 2))
    queue.play(ev.RunOpened(0.0, "r"))
    at, ids = 0.0, []
    for step in range(60):
        at += rng.choice((0.0, 0.5, 3.0))
        running = list(queue.player.book.running)
        deed = rng.choice(("add", "end", "end", "end", "defer", "resume", "retry", "edit", "cancel", "wake"))
        task = rng.choice(ids) if ids else ""
        if deed == "add" or not ids:
            needs = tuple(rng.sample(ids, min(len(ids), rng.randrange(3))))
            new = [a_task(f"t{step}-{n}", needs=needs, kind=rng.choice(("code", "late"))) for n in range(3)]
            ids += [one.id for one in new]
            queue.play(ev.TasksSubmitted(at, "r", tuple(new)))
        elif deed == "end" and running:
            ending = rng.choice((EndingKind.DONE, EndingKind.DONE, EndingKind.FAILED, EndingKind.OVERLOADED))
            queue.play(ev.AttemptEnded(at, rng.choice(running), Ending(ending)))
        elif deed == "edit":
            queue.play(ev.TaskEdited(at, "r", a_task(task, priority=rng.randrange(5))))
        elif deed in ("defer", "resume", "retry"):
            kind = {"defer": ev.DeferAsked, "resume": ev.ResumeAsked, "retry": ev.RetryAsked}[deed]
            queue.play(kind(at, "r", task))
        elif deed == "cancel":
            queue.play(ev.CancelAsked(at, "r", task))
        else:
            queue.play(ev.Woke(at))
        run = queue.player.book.runs["r"]
        assert queue.now(at + 1.0) == slowly(run, at + 1.0), f"step {step}: {deed} {task} at {at}"
