"""What the handlers work with: the dispatcher, its store and its picture, and the ways to find things in them."""

from pathlib import Path

from manyhands.api.feed import Feed
from manyhands.api.picture.rows import Redact
from manyhands.core.book import GONE, Book
from manyhands.core.model import Host
from manyhands.core.state import HostState, Record, Run
from manyhands.errors import UnknownRun, UnknownTask
from manyhands.runtime.dispatcher import Dispatcher


class UnknownHost(UnknownRun):
    pass


class Office:
    def __init__(self, dispatcher: Dispatcher, directory: Path, redact: Redact) -> None:
        self.dispatcher = dispatcher
        self.directory = directory
        self.redact = redact
        self.feed = Feed(dispatcher, redact)
        self.recordings = 0  # being made now

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
