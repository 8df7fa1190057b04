"""What the handlers work with: the dispatcher, its store and its picture, and the ways to find things in them."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from manyhands.core.book import GONE, Book
from manyhands.core.events import AnyEvent, TaskEdited, TasksSubmitted
from manyhands.core.state import HostState, Record, Run
from manyhands.core.values.host import Host
from manyhands.core.values.task import Task
from manyhands.engine.dispatcher import Dispatcher
from manyhands.engine.redaction import Secrets
from manyhands.engine.store.store_opening import Where
from manyhands.errors import UnknownRun, UnknownTask
from manyhands.surfaces.api.feed import Feed
from manyhands.surfaces.api.metrics import Metrics


class UnknownHost(UnknownRun):
    pass


class ApiContext:
    def __init__(self, dispatcher: Dispatcher, directory: Path, where: Where, secrets: Secrets) -> None:
        self.dispatcher = dispatcher
        self.directory = directory  # of what attempts printed
        self.where = where  # the journal is
        self.secrets = secrets
        self.redact = secrets.redact
        self.metrics = Metrics(dispatcher)
        self.feed = Feed(dispatcher, secrets.redact, self.metrics.age)
        self.at_work = 0  # recordings and stories that are being made now
        for run in dispatcher.book.runs.values():
            self._learn(record.task for record in run.records.values())
        dispatcher.recorded.append(self._recorded)

    def close(self) -> None:
        self.dispatcher.recorded.remove(self._recorded)
        self.feed.close()
        self.metrics.close()

    def _recorded(self, batch: Sequence[AnyEvent]) -> None:
        for event in batch:
            if isinstance(event, TasksSubmitted):
                self._learn(event.tasks)
            elif isinstance(event, TaskEdited):
                self._learn((event.task,))

    def _learn(self, tasks: Iterable[Task]) -> None:
        """What a task is given as a secret must not come back on a page."""
        for task in tasks:
            if task.env:
                self.secrets.learn(task.env)

    @property
    def book(self) -> Book:
        return self.dispatcher.book

    def run(self, name: str) -> Run:
        run = self.book.runs.get(name)
        if run is None:
            raise UnknownRun(f"there is no run `{name[:100]}`", "/api/v1/runs lists them")
        return run

    def record(self, run: str, task: str) -> Record:
        record = self.run(run).records.get(task)
        if record is None:
            raise UnknownTask(f"run {run} has no task `{task[:100]}`", "/api/v1/tasks lists them")
        return record

    def host(self, name: str) -> HostState:
        host = self.book.hosts.get(name)
        if host is None:
            raise UnknownHost(f"there is no host `{name[:100]}`", "/api/v1/hosts lists them")
        return host

    def configured_hosts(self) -> list[Host]:
        return [host.host for host in self.book.hosts.values() if host.paused != GONE]
