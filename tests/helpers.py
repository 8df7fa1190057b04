"""Builders and players for tests of the core: one file, no fixtures."""

from collections.abc import Iterable
from typing import Any

from manyhands.core import events as ev
from manyhands.core.commands import AnyCommand, StartAttempt
from manyhands.core.invariants import violations
from manyhands.core.scheduler import Scheduler
from manyhands.core.values.ending import DONE, Ending
from manyhands.core.values.host import Host, Rule, Width
from manyhands.core.values.task import NO_CLAIMS, Claims, Task, TaskState


def a_task(id: str, **fields: Any) -> Task:
    """A task that runs nothing in particular and touches nothing unless told."""
    fields.setdefault("kind", "code")
    fields.setdefault("run", ("true",))
    fields.setdefault("claims", NO_CLAIMS)
    return Task(id, **fields)


def a_host(name: str = "local", width: int = 1, **fields: Any) -> Host:
    return Host(name, width=Width(width, width, width), **fields)


def writes(*paths: str) -> Claims:
    return Claims(write=paths)


class Player:
    """Plays events to a scheduler one second apart and keeps what came out; sound after every one."""

    def __init__(self, *hosts: Host, rules: tuple[Rule, ...] = ()) -> None:
        self.scheduler = Scheduler()
        self.book = self.scheduler.book
        self.journal: list[ev.AnyEvent] = []
        self.commands: list[AnyCommand] = []
        self.started: list[str] = []
        self.at = 0.0
        self.play(ev.HostsConfigured(self.at, hosts or (a_host(),), rules))

    def play(self, *happened: ev.Input) -> list[AnyCommand]:
        step = self.scheduler.handle(happened)
        self.journal += [*happened, *step.decisions]
        self.commands += step.commands
        self.started += [c.task.id for c in step.commands if isinstance(c, StartAttempt)]
        assert violations(self.book) == []
        return step.commands

    def open(self, *tasks: Task, run: str = "r", **settings: Any) -> list[AnyCommand]:
        return self.play(ev.RunOpened(self.at, run, **settings), ev.TasksSubmitted(self.at, run, tasks))

    def add(self, *tasks: Task, run: str = "r") -> list[AnyCommand]:
        return self.play(ev.TasksSubmitted(self.at, run, tasks))

    def end(self, *ids: str, ending: Ending = DONE, after_s: float = 1.0) -> list[AnyCommand]:
        """These tasks' attempts end, all at once."""
        self.at += after_s
        return self.play(*(ev.AttemptEnded(self.at, self.attempt_of(id), ending) for id in ids))

    def wait(self, seconds: float) -> list[AnyCommand]:
        self.at += seconds
        return self.play(ev.Woke(self.at))

    def attempt_of(self, id: str) -> int:
        return next(n for n, one in self.book.running.items() if one.record.task.id == id)

    @property
    def running(self) -> list[str]:
        return [one.record.task.id for one in self.book.running.values()]

    def state(self, id: str, run: str = "r") -> TaskState:
        return self.book.runs[run].records[id].state

    def states(self, ids: Iterable[str], run: str = "r") -> list[str]:
        return [str(self.state(id, run)) for id in ids]

    def cause(self, id: str, run: str = "r") -> str:
        return self.book.runs[run].records[id].cause.why

    def run_to_end(self, run: str = "r") -> list[str]:
        """Each second, all that runs is done; the order of the starts."""
        while self.book.running:
            self.end(*self.running)
        return self.started
