"""What is worth telling, found in what a dispatcher records. Each cause is told once."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from manyhands.core.book import Book
from manyhands.core.events import AnyEvent, AttemptEnded, AttemptStarted, BudgetReached, QuestionAsked
from manyhands.core.state import HostState, Record, Run
from manyhands.core.values.question import Question
from manyhands.core.values.task import TaskState
from manyhands.sources.config.tell_config import TellCause


class Tiding(Struct, frozen=True):
    about: TellCause
    title: str
    text: str
    run: str = ""


class Tidings:
    """Looks at the book after every batch. What was so before it looked is not told."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._record_of = {attempt: running.record for attempt, running in book.running.items()}
        self._closed = {host.name for host in book.hosts.values() if host.is_closed}
        self._needing = {host.name for host in book.hosts.values() if host.needs_person}
        self._failed = {run.name for run in book.runs.values() if run.counts[TaskState.FAILED]}
        self._ended = {run.name: run.ended_at for run in book.runs.values()}
        self._asked: set[tuple[str, str, str]] = set()  # run, task and words of each question that was told

    def of(self, batch: Sequence[AnyEvent]) -> list[Tiding]:
        found: list[Tiding] = []
        touched: dict[str, Run] = {}
        for event in batch:
            if isinstance(event, AttemptStarted) and (running := self._book.running.get(event.attempt)) is not None:
                self._record_of[event.attempt] = running.record
            elif isinstance(event, AttemptEnded) and (record := self._record_of.pop(event.attempt, None)) is not None:
                run = self._book.runs.get(record.run)
                if run is not None:
                    touched[run.name] = run
                    found += self._of_task(run, record)
            elif isinstance(event, QuestionAsked) and (record := self._record_of.get(event.attempt)) is not None:
                found += self._of_question(record, event.question)
            elif isinstance(event, BudgetReached):
                found.append(Tiding("person", f"budget {event.budget} is used up", event.why))
        for host in self._book.hosts.values():
            found += self._of_host(host)
        for run in touched.values():
            found += self._of_end(run)
        return found

    def _of_task(self, run: Run, record: Record) -> Iterator[Tiding]:
        id = record.task.id
        if record.state is TaskState.FAILED and run.name not in self._failed:
            self._failed.add(run.name)
            yield Tiding("failure", f"{id} failed in run {run.name}", record.cause.why, run.name)
        elif record.state is TaskState.NEEDS_PERSON and not self._is_told(record, record.question):
            yield Tiding("person", f"{id} of run {run.name} waits for you", record.cause.why, run.name)

    def _of_question(self, record: Record, question: Question) -> Iterator[Tiding]:
        """While it runs. If its attempt ends and the question stays open, that is not told again."""
        if not self._is_told(record, question):
            self._asked.add((record.run, record.task.id, question.text))
            yield Tiding("person", f"{record.task.id} of run {record.run} asks you", question.text, record.run)

    def _is_told(self, record: Record, question: Question | None) -> bool:
        return question is not None and (record.run, record.task.id, question.text) in self._asked

    def _of_host(self, host: HostState) -> Iterator[Tiding]:
        is_known, is_needing = host.name in self._closed, host.name in self._needing
        if host.is_closed and not is_known:
            self._closed.add(host.name)
            yield Tiding("account", f"{host.name} is closed", host.paused or "")
        elif is_known and not host.is_closed:
            self._closed.discard(host.name)
            yield Tiding("account", f"{host.name} is open again", "its account takes tasks again")
        if host.needs_person and not is_needing:
            self._needing.add(host.name)
            yield Tiding("person", f"{host.name} needs you", host.paused or "")
        elif is_needing and not host.needs_person:
            self._needing.discard(host.name)

    def _of_end(self, run: Run) -> Iterator[Tiding]:
        if run.ended_at is None or self._ended.get(run.name) == run.ended_at:
            return
        self._ended[run.name] = run.ended_at
        counts = " · ".join(f"{state} {n}" for state, n in run.counts.items() if n)
        cost = f" · cost {run.cost:.2f}" if run.cost else ""
        yield Tiding("end", f"run {run.name} has ended", f"{counts}{cost}", run.name)
