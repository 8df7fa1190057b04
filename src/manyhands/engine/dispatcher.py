"""The live loop: it takes what arrived, lets the core decide, writes both in one transaction, then carries out.

Nothing is started, stopped or acknowledged before its cause is in the journal. The next batch gathers while one is
being written, so a slower disk means larger batches.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from manyhands.core import snapshot
from manyhands.core.commands import (
    AnswerAttempt,
    AnyCommand,
    HandIn,
    ReleaseAttempt,
    RunEnded,
    StartAttempt,
    StopAttempt,
    WakeAt,
)
from manyhands.core.events import (
    AnyEvent,
    AttemptEnded,
    AttemptShowed,
    AttemptSpawned,
    HostRead,
    Input,
    QuestionAsked,
    RunOpened,
    Woke,
)
from manyhands.core.pulling import is_in_hands
from manyhands.core.scheduler import Scheduler
from manyhands.core.state import Running
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.host import ProcessHandle
from manyhands.core.values.question import Question
from manyhands.core.values.widths import Reading
from manyhands.engine.clock import Clock
from manyhands.engine.redaction import Secrets
from manyhands.engine.request_checks import why_refused
from manyhands.engine.run_opening import attempt_directory
from manyhands.engine.sealing import WITH_SECRETS, Sealing
from manyhands.engine.store.contract.env_vault import EnvVault, ValueMissing
from manyhands.engine.store.contract.journal import Journal, UnreadableRequest
from manyhands.errors import LeaseLost, Unavailable
from manyhands.hosts.executors.executor import Adopts, Answers, Executor, TakesWork

_log = logging.getLogger(__name__)

#: The ending of attempts that were killed because another dispatcher may lead by now.
CUT_OFF = Ending(EndingKind.LOST, "the dispatcher was cut off from its store while it ran")

T = TypeVar("T")


class SnapshotPace(NamedTuple):
    """How many events after the last snapshot the next one is saved. A snapshot costs as much as the book is large."""

    events_min: int = 200_000  # often enough to reopen fast, seldom enough not to be felt
    events_at_close: int = 5_000  # a clean stop leaves fewer than this unsaved


SNAPSHOTS = SnapshotPace()


class Dispatcher:
    def __init__(
        self,
        scheduler: Scheduler,
        journal: Journal,
        directory: Path,
        clock: Clock,
        snapshots: SnapshotPace = SNAPSHOTS,
        secrets: Secrets | None = None,
    ) -> None:
        """`secrets` are left out of what attempts report before that is written."""
        self.scheduler = scheduler
        self.book = scheduler.book
        self.clock = clock
        self.recorded: list[Callable[[Sequence[AnyEvent]], None]] = []  # called with every batch once it is on disk
        #: Each is asked what else follows from the inputs. That is decided in the same turn and written with them.
        self.following: list[Callable[[Sequence[Input]], Sequence[Input]]] = []
        self.found: tuple[Running, ...] = ()  # attempts that a dead dispatcher had in flight; each is adopted or lost
        self.page = ""  # the address of its page, while that is served
        self.sealing = Sealing(EnvVault(directory), secrets)
        self.commit_s = 0.0  # how long it took to write the latest batch
        self._journal = journal
        self._directory = str(directory)
        self._executors: Mapping[str, Executor] = {}
        self._executor_of: dict[int, Executor] = {}
        self._inbox: list[Input] = []
        self._answered: list[int] = []
        self._awaiting: list[asyncio.Future[None]] = []
        self._arrived = asyncio.Event()
        self._settled: dict[str, list[asyncio.Future[None]]] = {}
        self._wake: asyncio.TimerHandle | None = None
        self._snapshots = snapshots
        self._snapshot_at = journal.last
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="journal")
        self._writing: asyncio.Future[int] | None = None  # the latest batch, on disk or on its way
        self._task: asyncio.Task[None] | None = None
        self._asked = False  # requests wait in the store
        self._failed_on: Counter[str] = Counter()  # run/task → how often the dispatcher itself failed on it
        self._cut_off: set[int] = set()  # attempts that must not continue: another dispatcher may lead by now

    @property
    def vault(self) -> EnvVault:
        return self.sealing.vault

    @property
    def journal_identity(self) -> str:
        return self._journal.identity

    # What executors and other outsiders call

    def spawned(self, attempt: int, process: ProcessHandle) -> None:
        self.tell(AttemptSpawned(self.clock.now(), attempt, process))

    def showed(self, attempt: int) -> None:
        self.tell(AttemptShowed(self.clock.now(), attempt))

    def retried(self, attempt: int) -> None:
        running = self.book.running.get(attempt)
        if running is not None:
            now = self.clock.now()
            self.tell(HostRead(now, running.host.name, Reading(now, "retries", asked_again=1)))

    def asked(self, attempt: int, question: Question) -> None:
        self.tell(QuestionAsked(self.clock.now(), attempt, self.sealing.of_question(question)))

    def ended(self, attempt: int, ending: Ending) -> None:
        self._executor_of.pop(attempt, None)
        if attempt in self._cut_off:
            self._cut_off.discard(attempt)
            ending = CUT_OFF
        try:
            msgspec.msgpack.encode(ending)
        except (ValueError, TypeError, OverflowError) as error:  # what one task says must not end all others
            ending = self._ending_set_aside(attempt, "record its ending", error)
        self.tell(AttemptEnded(self.clock.now(), attempt, self.sealing.of_ending(ending)))

    def adopt(self, running: Running, executor: Executor | None) -> bool:
        """Whether the executor takes over an attempt that a dead dispatcher left in flight there."""
        record = running.record
        number = len(record.history or ())
        if running.lease is not None and running.host.name in self._executors:
            self._start(StartAttempt(running.attempt, record.run, record.task, number, running.host.name))
            if running.lease.handed_in is not None:
                self._hand_in(HandIn(running.attempt, running.lease.handed_in))
            return True
        if record.task.save or record.task.keep:
            return False  # what the attempt leaves is saved by the dispatcher that started it
        place = attempt_directory(self._directory, record.run, record.task.id, number)
        if not isinstance(executor, Adopts) or not executor.adopt(running.attempt, place):
            return False
        self._executor_of[running.attempt] = executor
        if running.stop_why is not None:  # the executor may not have heard of it
            executor.stop(running.attempt)
        return True

    def cut_off(self) -> None:
        """Kill everything in flight: the dispatcher that leads by now may start the same tasks."""
        for attempt, executor in list(self._executor_of.items()):
            running = self.book.running.get(attempt)
            if running is not None and is_in_hands(running):
                continue  # its agent continues, and its lease is in the journal
            self._cut_off.add(attempt)
            executor.stop(attempt)
            if attempt in self._executor_of:  # asked twice, it kills at once
                executor.stop(attempt)

    def tell(self, event: Input) -> None:
        """Report that this happened. It is written soon, and acted on after that."""
        self._inbox.append(event)
        self._arrived.set()

    async def submit(self, *events: Input) -> None:
        """Returns when the events are on disk: what is acknowledged is never lost."""
        self._check_alive()
        on_disk = asyncio.get_running_loop().create_future()
        self._inbox.extend(events)
        self._awaiting.append(on_disk)
        self._arrived.set()
        await on_disk

    async def wait_settled(self, run: str) -> None:
        """Waits until the run has come to rest. If the loop dies of an error, that is raised here."""
        self._check_alive()
        if self.book.runs[run].settled:
            return
        settled: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._settled.setdefault(run, []).append(settled)
        assert self._task is not None
        await asyncio.wait({settled, self._task}, return_when=asyncio.FIRST_COMPLETED)
        self._check_alive()

    @property
    def last(self) -> int:
        """The number of the last event on disk."""
        return self._journal.last

    @property
    def is_alive(self) -> bool:
        return self._task is not None and not self._task.done()

    def _check_alive(self) -> None:
        if self._task is not None and self._task.done():
            self._task.result()

    # Life

    def start(self, executors: Mapping[str, Executor]) -> None:
        self._executors = executors
        self._task = asyncio.create_task(self._loop())
        self._task.add_done_callback(self._release_waiting)
        asyncio.get_running_loop().add_reader(self._journal.wake_fileno(), self._note_requests)
        self._take(self._journal.requests())

    async def close(self) -> None:
        """Stop what is in flight without recording an ending: the next start finds it and records it as lost."""
        self._journal.give_up()
        asyncio.get_running_loop().remove_reader(self._journal.wake_fileno())
        if self._wake is not None:
            self._wake.cancel()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})
        await asyncio.gather(*(executor.close() for executor in dict.fromkeys(self._executors.values())))
        if not await self._has_failed() and self._journal.last - self._snapshot_at >= self._snapshots.events_at_close:
            with suppress(Unavailable):  # without it, the next start only takes longer
                await self._save_snapshot()
        self._writer.shutdown()

    async def _has_failed(self) -> bool:
        """Whether the book may be ahead of the journal. A batch that is still being written is waited for."""
        if self._writing is not None:
            await asyncio.wait({self._writing})
            if self._writing.exception() is not None:
                return True
        return self._task is not None and not self._task.cancelled() and self._task.exception() is not None

    async def _loop(self) -> None:
        while True:
            await self._arrived.wait()
            self._arrived.clear()
            if self._asked:
                self._asked = False
                self._take(await self._in_writer(self._journal.requests))
            acknowledge = len(self._awaiting)
            await self._take_turn()
            for on_disk in self._awaiting[:acknowledge]:
                if not on_disk.done():
                    on_disk.set_result(None)
            del self._awaiting[:acknowledge]
            if self._journal.last - self._snapshot_at > max(self._snapshots.events_min, self.book.last_number):
                await self._save_snapshot()

    async def _take_turn(self) -> None:
        """Decide on everything that has arrived, write it, then carry out the commands."""
        happened, self._inbox = self._inbox, []
        answered, self._answered = self._answered, []
        batch, commands = self._decide(happened)
        for follow in self.following:
            if follows := follow(happened):
                more, orders = self._decide(follows)
                batch += more
                commands += orders
        if batch or answered:
            loop = asyncio.get_running_loop()
            handed_over_at = loop.time()
            # Shielded: a batch that was handed over is written whole, and `close` waits for it.
            self._writing = loop.run_in_executor(self._writer, self._journal.append, batch, answered)
            await asyncio.shield(self._writing)
            self.commit_s = loop.time() - handed_over_at
            for told in self.recorded:
                told(batch)
        for command in commands:
            self._carry_out(command)

    def _decide(self, happened: Sequence[Input]) -> tuple[list[AnyEvent], list[AnyCommand]]:
        """The events to write, and the commands to carry out after that."""
        happened = [self.sealing.sealed(event) if type(event) in WITH_SECRETS else event for event in happened]
        step = self.scheduler.handle(happened)
        batch: list[AnyEvent] = [event for event in happened if type(event) is not Woke]
        return batch + step.decisions, step.commands

    def _release_waiting(self, task: asyncio.Task[None]) -> None:
        """The loop has ended: whoever waits for an acknowledgement gets the error."""
        error = None if task.cancelled() else task.exception()
        if isinstance(error, LeaseLost):
            self.cut_off()
        for on_disk in self._awaiting:
            if not on_disk.done():
                if error is not None:
                    on_disk.set_exception(error)
                else:
                    on_disk.cancel()

    async def _save_snapshot(self) -> None:
        last = self._journal.last
        await self._in_writer(partial(self._journal.save_snapshot, last, snapshot.save(self.scheduler)))
        self._snapshot_at = last

    async def _in_writer(self, work: Callable[[], T]) -> T:
        """Run it beside the loop, but never while a batch is being written."""
        return await asyncio.get_running_loop().run_in_executor(self._writer, work)

    def _note_requests(self) -> None:
        self._journal.clear_wake()
        self._asked = True
        self._arrived.set()

    def _take(self, waiting: Sequence[tuple[int, AnyEvent | UnreadableRequest]]) -> None:
        """Turn the durable requests of other processes into events."""
        known = set(self._answered)  # taken already, and struck off with the next batch
        opened = {event.run for event in self._inbox if isinstance(event, RunOpened)}
        for request, event in waiting:
            if request in known:
                continue
            self._answered.append(request)
            if why := why_refused(event, self.book, opened):
                _log.warning("request %d is set aside: %s", request, why)
                continue
            if isinstance(event, RunOpened):
                opened.add(event.run)
            self.tell(msgspec.structs.replace(event, at=self.clock.now()))  # type: ignore[arg-type]

    # Carrying out

    def _carry_out(self, command: AnyCommand) -> None:
        match command:
            case StartAttempt():
                self._start(command)
            case HandIn():
                self._hand_in(command)
            case ReleaseAttempt() if command.attempt in self._executor_of:
                self._executor_of[command.attempt].release(command.attempt)
            case StopAttempt() if command.attempt in self._executor_of:
                self._executor_of[command.attempt].stop(command.attempt)
            case AnswerAttempt() if isinstance(executor := self._executor_of.get(command.attempt), Answers):
                executor.answer(command.attempt, command.words)
            case WakeAt():
                self._set_wake(command.at)
            case RunEnded():
                for waiting in self._settled.pop(command.run, ()):
                    if not waiting.done():
                        waiting.set_result(None)

    def _start(self, order: StartAttempt) -> None:
        executor = self._executor_of[order.attempt] = self._executors[order.host]
        place = attempt_directory(self._directory, order.run, order.task.id, order.number)
        try:
            executor.start(msgspec.structs.replace(order, task=self.sealing.opened(order.task)), place)
        except ValueMissing as missing:
            self.ended(order.attempt, self.sealing.ending_without(missing.variable))
        except Exception as error:  # no executor may raise; if one does, that must not end all other tasks
            self.ended(order.attempt, self._ending_set_aside(order.attempt, "start it", error))

    def _hand_in(self, order: HandIn) -> None:
        executor = self._executor_of.get(order.attempt)
        if isinstance(executor, TakesWork):
            executor.hand_in(order.attempt, order.ending)

    def _ending_set_aside(self, attempt: int, what: str, error: Exception) -> Ending:
        """The dispatcher itself failed on this task. After the second time, the task waits for a person."""
        running = self.book.running.get(attempt)
        name = f"{running.record.run}/{running.record.task.id}" if running is not None else ""
        self._failed_on[name] += 1
        is_second = self._failed_on[name] > 1
        detail = f"the dispatcher could not {what}: {type(error).__name__}: {error}".encode(errors="replace").decode()
        return Ending(EndingKind.FAILED, detail, permanent=is_second, needs_person=is_second)

    def _set_wake(self, at: float) -> None:
        if self._wake is not None:
            self._wake.cancel()
        delay_s = max(0.0, at - self.clock.now())
        self._wake = asyncio.get_running_loop().call_later(delay_s, self._on_wake)

    def _on_wake(self) -> None:
        self.tell(Woke(self.clock.now()))
