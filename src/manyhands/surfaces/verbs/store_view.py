"""A store as a command sees it: its book is rebuilt from the journal, whether or not a dispatcher is running."""

import os
import shlex
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from urllib.parse import urlsplit

from manyhands.core.book import Book
from manyhands.core.events import AnyEvent, RunOpened
from manyhands.core.scheduler import Scheduler
from manyhands.core.state import Record, Run
from manyhands.core.values.host import Family, Host, Route
from manyhands.core.values.provenance import Purpose
from manyhands.core.values.task import TaskState
from manyhands.engine.recovery import catch_up, rebuild
from manyhands.engine.redaction import Secrets, secrets_of
from manyhands.engine.request_checks import why_refused
from manyhands.engine.store import store_opening
from manyhands.engine.store.contract.journal import JournalReader, UnreadableRequest
from manyhands.engine.store.store_opening import Where, exists, open_reader
from manyhands.errors import UnknownRun, UnknownTask
from manyhands.sources.config.config_types import Config

#: A dispatcher that writes all the time may answer requests while we read. We catch up this often at most.
_ROUNDS_MAX = 20


#: The run of what agents reserve. It is nobody's plan, so it is meant only where it is named.
RESERVED_RUN = "reserved"


class View:
    """A store as one command or call finds it. The book is read once, when it is first needed."""

    def __init__(self, config: Config, asked_from: str = "command line") -> None:
        self.config = config
        self.asked_from = asked_from  # for the audit trail
        self.place: Where = config.store_at

    @cached_property
    def book(self) -> Book:
        return open_book(self.place)

    def scheduler(self) -> Scheduler:
        """A scheduler of one's own in the state of the store, to try things on; an empty one if there is no store."""
        if not exists(self.place):
            return Scheduler()
        reader = open_reader(self.place)
        try:
            return scheduler_of(reader)
        finally:
            reader.close()

    @property
    def book_if_any(self) -> Book | None:
        return self.book if exists(self.place) else None

    @property
    def now(self) -> float:
        return time.time()

    @property
    def hosts(self) -> Sequence[Host]:
        return self.config.core_hosts()

    @property
    def families(self) -> Sequence[Family]:
        return self.config.core_families()

    @property
    def routes(self) -> Sequence[Route]:
        return self.config.core_routes()

    @property
    def directory(self) -> Path:
        return self.config.store_directory

    @property
    def is_dispatching(self) -> bool:
        return is_dispatching(self.place)

    @property
    def secrets(self) -> Secrets:
        """The secrets of the environment, of the hosts, and of the tasks in the book, if it was read."""
        secrets = secrets_of(self.config)
        if "book" in self.__dict__:
            for run in self.book.runs.values():
                for record in run.records.values():
                    if record.task.env:
                        secrets.learn(record.task.env)
        return secrets


def open_book(store: Where) -> Book:
    """The state after all events of the journal and all requests that wait for the next dispatcher."""
    reader = open_reader(store)
    try:
        return book_of(reader)
    finally:
        reader.close()


def book_of(reader: JournalReader) -> Book:
    return scheduler_of(reader).book


def scheduler_of(reader: JournalReader) -> Scheduler:
    scheduler = Scheduler()
    seq = rebuild(reader, scheduler)
    for _ in range(_ROUNDS_MAX):
        asked, before = reader.requests(), seq
        seq = catch_up(reader, scheduler, seq)
        # A request that is answered between the two reads would be missing from both, or be in both.
        if seq == before:
            break
    else:
        asked = reader.requests()
    scheduler.replay(_admitted((event for _, event in asked), scheduler.book))
    return scheduler


def _admitted(asked: Iterable[AnyEvent | UnreadableRequest], book: Book) -> Iterator[AnyEvent]:
    """The requests that a dispatcher will apply."""
    opened: set[str] = set()
    for event in asked:
        if isinstance(event, UnreadableRequest) or why_refused(event, book, opened):
            continue
        if isinstance(event, RunOpened):
            opened.add(event.run)
        yield event


def is_dispatching(store: Where) -> bool:
    """Is a dispatcher running on this store?"""
    return store_opening.is_dispatching(store)


def may_continue(run: Run) -> bool:
    """Has it a task that a dispatcher could start, now or soon?"""
    return any(run.counts[state] for state in (TaskState.READY, TaskState.RUNNING, TaskState.BACKOFF))


def command_for(run: Run) -> str:
    """The command that continues the run."""
    match run.purpose:
        case Purpose.PROGRAM:
            return "python PROGRAM"
        case Purpose.HAND:
            return "manyhands serve"
        case Purpose.EVAL:
            return f"manyhands eval {shlex.quote(run.source)}"
        case Purpose.TRIAL:
            return "manyhands eval SPEC"
    if urlsplit(run.source).scheme:  # a queue, or GitHub
        return "manyhands serve"
    if not os.path.isabs(run.source):
        return "manyhands run"
    here = os.getcwd()
    paths = [os.path.relpath(path, here) if path.startswith(here + os.sep) else path for path in run.source.split(", ")]
    if os.path.isdir(run.source):
        noun = "--markdown" if run.source.endswith("/") else "--beads"
        return f"manyhands serve {noun} {shlex.join(paths)}"
    return f"manyhands run {shlex.join(paths)}"


def find_run(book: Book, name: str | None) -> Run:
    """The run of that name, or the newest; what agents have reserved only if there is nothing else."""
    if name is None:
        if not book.runs:
            raise UnknownRun(
                "nothing has been run here yet", "`manyhands run PLAN` runs a plan, `manyhands demo` shows one"
            )
        newest_first = reversed(book.runs.values())
        return next((run for run in newest_first if run.name != RESERVED_RUN), None) or book.runs[RESERVED_RUN]
    if name not in book.runs:
        raise UnknownRun(f"there is no run `{name[:100]}`", "`manyhands runs` lists the runs")
    return book.runs[name]


def find_task(book: Book, id: str, run: str | None) -> Record:
    """The task in that run, or in the newest run that has it."""
    runs = [find_run(book, run)] if run is not None else list(reversed(book.runs.values()))
    for each in runs:
        if id in each.records:
            return each.records[id]
    where = f"run {run}" if run is not None else "any run"
    raise UnknownTask(f"there is no task `{id[:100]}` in {where}", "`manyhands task` lists the tasks of the newest run")
