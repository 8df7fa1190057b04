"""What the handlers work with: a live dispatcher as the verbs see it, its store, and its picture."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from manyhands.core.book import Book
from manyhands.core.events import AnyEvent, TaskEdited, TasksSubmitted
from manyhands.core.values.host import Family, Host, Route
from manyhands.core.values.task import Task
from manyhands.engine.redaction import Secrets
from manyhands.engine.store.store_opening import Where
from manyhands.surfaces.api.feed import Feed
from manyhands.surfaces.api.metrics import Metrics
from manyhands.surfaces.api.watched import Watched


class ApiContext:
    """A `BookView` of the dispatcher in whose loop it lives."""

    def __init__(self, dispatcher: Watched, directory: Path, where: Where, secrets: Secrets) -> None:
        self.dispatcher = dispatcher
        self.directory = directory  # where attempts leave their output
        self.where = where  # where the journal is
        self.secrets = secrets
        self.redact = secrets.redact
        self.metrics = Metrics(dispatcher)
        self.feed = Feed(dispatcher, secrets.redact, self.metrics.age)
        self.at_work = 0  # how many recordings and stories are being made now
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
        """A secret in the environment of a task must not appear on a page."""
        for task in tasks:
            if task.env:
                self.secrets.learn(task.env)

    @property
    def book(self) -> Book:
        return self.dispatcher.book

    @property
    def book_if_any(self) -> Book:
        return self.book

    @property
    def now(self) -> float:
        return self.dispatcher.clock.now()

    @property
    def hosts(self) -> list[Host]:
        return [host.host for host in self.book.hosts.values() if not host.is_gone]

    @property
    def families(self) -> tuple[Family, ...]:
        return tuple(self.book.families.values())

    @property
    def routes(self) -> tuple[Route, ...]:
        return tuple(self.book.outbox.routes.values())

    @property
    def is_dispatching(self) -> bool:
        return self.dispatcher.is_alive
