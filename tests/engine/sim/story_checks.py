"""What must hold of a story, looked at from outside the dispatcher."""

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from engine.sim.random_world import assert_same
from manyhands.core import events as ev
from manyhands.core.book import Book
from manyhands.core.explain import explain
from manyhands.core.invariants import violations
from manyhands.core.scheduler import Scheduler
from manyhands.core.values.task import TERMINAL, TaskState
from manyhands.engine.recovery import rebuild
from manyhands.engine.sim.dispatched.simulated_sink import SimulatedSink
from manyhands.engine.store.memory_store import MemoryStore

#: What a dispatcher tells itself; all else in the journal was asked for by somebody, or decided.
BY_ITSELF = (
    ev.HostsConfigured,
    ev.RunDrained,
    ev.AttemptSpawned,
    ev.AttemptEnded,
    ev.HostRead,
    ev.Delivered,
    ev.DeliveryGivenUp,
    *ev.Decision.__args__,
)


def key_of(event: ev.AnyEvent) -> str:
    """The event without its time: it happens when it is answered."""
    return msgspec.json.encode(replace(event, at=0.0)).decode()


class Promises(Struct):
    """Which events somebody was promised, by `key_of`."""

    submitted: Counter[str] = field(default_factory=Counter)
    acknowledged: Counter[str] = field(default_factory=Counter)
    asked: Counter[str] = field(default_factory=Counter)  # durable requests


class StoreCheck:
    """Checks a store whenever it is told to. Each event is looked at once, so that a check costs what is new."""

    def __init__(
        self, store: MemoryStore, promises: Promises, sinks: Mapping[tuple[str, str], SimulatedSink] | None = None
    ) -> None:
        self._store = store
        self._promises = promises
        self._sinks = sinks or {}
        self._checked = 0  # the number of the last event
        self._recorded: Counter[str] = Counter()
        self._asked_for: set[str] = set()  # events that only somebody's request explains
        self._replayed = Scheduler()
        self._before: ev.AnyEvent | None = None

    def check(self) -> None:
        reader = self._store.open_reader()
        numbered = list(reader.read(self._checked))
        self._checked = max((number for number, _ in numbered), default=self._checked)
        new = [event for _, event in numbered]
        self._note(new)
        self._check_promises(Counter(key_of(event) for _, event in reader.requests()))
        self._check_deliveries(new)
        self._check_times(new)
        self._check_recovery(new)

    def _note(self, new: Sequence[ev.AnyEvent]) -> None:
        for event in new:
            key = key_of(event)
            self._recorded[key] += 1
            if not isinstance(event, BY_ITSELF):
                self._asked_for.add(key)

    def _check_promises(self, waiting: Counter[str]) -> None:
        recorded, answered = self._recorded, self._promises.asked - waiting
        for event, times in (self._promises.acknowledged + answered).items():
            on_disk = recorded[event]
            assert on_disk >= times, f"{event} was promised {times} times and is on disk {on_disk} times"
        for event in self._asked_for:
            times, most = recorded[event], self._promises.submitted[event] + answered[event]
            assert times <= most, f"{event} is on disk {times} times, and was asked for {most} times"

    def _check_deliveries(self, new: Sequence[ev.AnyEvent]) -> None:
        taken = {key for sink in self._sinks.values() for key in sink.taken}
        for event in new:
            if isinstance(event, ev.Delivered):
                assert f"sim-{event.delivery}" in taken, f"{event} is on disk, and no sink has it"

    def _check_times(self, new: Sequence[ev.AnyEvent]) -> None:
        """A decision has the time of its cause, and is written after all that came with it."""
        for event in new:
            if not isinstance(event, ev.Decision):
                before = self._before
                assert before is None or before.at <= event.at, f"time goes backwards from {before} to {event}"
                self._before = event

    def _check_recovery(self, new: Sequence[ev.AnyEvent]) -> None:
        """With a snapshot or without, the journal leads to the same state."""
        recovered, replayed = Scheduler(), self._replayed
        rebuild(self._store.open_reader(), recovered)
        replayed.replay(new)
        wrong = violations(recovered.book)
        assert not wrong, f"after recovery: {wrong}"
        # A snapshot may be of a moment in which nothing else happened, and such moments are not in the journal.
        for scheduler in (recovered, replayed):
            scheduler.replay([ev.Woke(max(recovered.book.at, replayed.book.at))])
        assert_same(recovered, replayed)


def left_over(book: Book) -> list[str]:
    tasks = [
        f"{record.task.id} of {run.name} is {record.state} ({'; '.join(map(str, explain(book, record, book.at)))})"
        for run in book.runs.values()
        for record in run.records.values()
        if record.state not in TERMINAL
    ]
    hosts = [f"{host.name} is paused: {host.paused}" for host in book.hosts.values() if host.paused is not None]
    letters = [f"letter {number} waits" for number in (*book.outbox.waiting, *book.outbox.dead)]
    return [*tasks, *hosts, *letters]


def unfinished_business(book: Book) -> list[ev.Input]:
    """What to ask for so that all comes to its end; empty if it has."""
    asked: list[ev.Input] = []
    for host in book.hosts.values():
        if host.paused is not None:
            asked.append(ev.HostResumed(0.0, host.name))
        if host.pinned is not None:
            asked.append(ev.WidthSet(0.0, host.name, None))
    for run in book.runs.values():
        left = [record for record in run.records.values() if record.state not in TERMINAL]
        if left:
            asked.append(ev.RunResumed(0.0, run.name))
        for record in left:
            if record.state is TaskState.DEFERRED:
                asked.append(ev.ResumeAsked(0.0, run.name, record.task.id))
    if book.outbox.dead or book.outbox.waiting:
        asked.append(ev.ResendAsked(0.0))
    return asked
