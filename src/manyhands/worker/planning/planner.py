"""The planner of the model worker: it is told what happened and answers with what to do now.

It is a pure state machine without a clock, I/O or threads. Memory readings reach it as events like any other.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from manyhands.worker.memory.learned_store import Learned
from manyhands.worker.memory.memory_budget import MemoryBudget
from manyhands.worker.planning.batch_starting import start_batches
from manyhands.worker.planning.item_intake import refusal_of
from manyhands.worker.planning.placing import place_models
from manyhands.worker.planning.planner_book import PlannerBook
from manyhands.worker.planning.planner_state import Device, Flight, Hosted, Phase
from manyhands.worker.planning.statistics import Statistics, statistics_of
from manyhands.worker.values import planner_values as m

#: A model that failed to load is tried again after this long, and the wait doubles each time.
RELOAD_AFTER_S = 1.0
RELOAD_AFTER_MAX_S = 60.0
#: After a model ran out of memory this often in a row while loading, the items that wait for it fail.
LOAD_FAILURES_MAX = 3
#: An item whose batches ran out of memory this often fails, no matter which process held the memory.
MEMORY_FAILURES_MAX = 12
#: Other processes are blamed for an item's out-of-memory failures at most this often in a row.
NEIGHBOURS_BLAMED_MAX = 2


class Planner:
    def __init__(
        self,
        learned: Mapping[str, Learned] | None = None,
        in_flight_max: int = 4,
        budget: MemoryBudget = MemoryBudget(),  # noqa: B008 (immutable)
        abreast_max: int = 1,
    ) -> None:
        self._book = PlannerBook(learned or {}, in_flight_max, budget, abreast_max)
        self._rules: dict[type, Callable[[Any], Iterable[m.PlannerDecision]]] = {
            m.ModelsConfigured: self._configured,
            m.ItemsArrived: self._arrived,
            m.ItemsCancelled: self._cancelled,
            m.MemoryRead: self._memory_read,
            m.ModelLoaded: self._loaded,
            m.ModelLoadFailed: self._load_failed,
            m.ModelEvicted: self._evicted,
            m.BatchEnded: self._ended,
            m.BatchOutOfMemory: self._out_of_memory,
            m.BatchReturned: self._returned,
            m.BatchFailed: self._failed,
            m.PlannerWoke: lambda event: (),
        }

    def handle(self, first: m.PlannerEvent, *more: m.PlannerEvent) -> list[m.PlannerDecision]:
        """Apply all events, then decide once what to do."""
        decisions: list[m.PlannerDecision] = []
        at = first.at
        for event in (first, *more):
            decisions += self._rules[type(event)](event)
            if event.at > at:
                at = event.at
        decisions += place_models(self._book, at)
        decisions += start_batches(self._book, at)
        wake_at = self._book.take_wake()
        return decisions if wake_at is None else [*decisions, m.WakePlannerAt(wake_at)]

    def wants_reading(self) -> bool:
        """Whether a memory reading matters: a batch could start, or a model could be loaded or evicted."""
        book = self._book
        settled = all(one.phase is Phase.RESIDENT for one in book.models.values())
        return not settled or len(book.flights) < book.in_flight_max

    def learned(self) -> dict[str, Learned]:
        """What to store for the next run."""
        return {**self._book.learned, **{one.spec.key: one.learned() for one in self._book.models.values()}}

    def statistics(self) -> Statistics:
        return statistics_of(self._book)

    def _configured(self, event: m.ModelsConfigured) -> Iterable[m.PlannerDecision]:
        book, named = self._book, {spec.name for spec in event.models}
        book.weight_of = dict(event.weight_of)
        for spec in event.models:
            known = book.models.get(spec.name)
            if known is None:
                book.models[spec.name] = Hosted(spec, book.learned.get(spec.key, Learned()))
            else:
                known.spec, known.leaving = spec, False
        for hosted in [one for one in book.models.values() if one.name not in named]:
            ids = book.all_waiting(hosted)
            book.forget(hosted, ids)
            if ids:
                yield m.FailItems(tuple(ids), f"`{hosted.name}` is no longer hosted")
            hosted.leaving = True
            if hosted.phase is Phase.RESIDENT:
                hosted.phase = Phase.DRAINING
            self._part_with(hosted)

    def _arrived(self, event: m.ItemsArrived) -> Iterable[m.PlannerDecision]:
        items = event.items
        if not items:
            return ()
        hosted = self._book.models.get(items[0].model)
        if hosted is not None and hosted.leaving:
            hosted = None
        refusal = refusal_of(self._book, hosted, items, event.at)
        if refusal is not None or hosted is None:
            return (refusal,) if refusal is not None else ()
        hosted.queue.add(items, self._book.weight_of.get(items[0].app, 1.0))
        return ()

    def _cancelled(self, event: m.ItemsCancelled) -> Iterable[m.PlannerDecision]:
        gone = set(event.ids)
        for hosted in self._book.models.values():
            self._book.forget(hosted, gone)
        for flight in self._book.flights.values():
            for one in flight.waiting:
                one.cancelled = one.cancelled or one.item.id in gone
        return ()

    def _memory_read(self, event: m.MemoryRead) -> Iterable[m.PlannerDecision]:
        known = self._book.devices.get(event.device)
        if known is None:
            self._book.devices[event.device] = Device(event.device, event.memory, event.memory.own_bytes or 0)
        else:
            known.memory = event.memory
        return ()

    def _loaded(self, event: m.ModelLoaded) -> Iterable[m.PlannerDecision]:
        hosted = self._book.models[event.model]
        ledger = self._book.devices[hosted.device].ledger
        ledger.loading -= hosted.bytes
        if event.bytes:
            hosted.loaded_bytes = max(hosted.loaded_bytes, event.bytes)
            hosted.bytes = event.bytes
        ledger.resident += hosted.bytes
        hosted.phase = Phase.DRAINING if hosted.leaving else Phase.RESIDENT
        hosted.load_s = event.took_s
        hosted.loaded_at = hosted.used_at = event.at
        hosted.load_failures, hosted.trouble = 0, ""
        hosted.start_on_clock = None  # its turn counts from now, not from when the model was first wanted
        return ()

    def _load_failed(self, event: m.ModelLoadFailed) -> Iterable[m.PlannerDecision]:
        hosted = self._book.models[event.model]
        self._book.let_go(hosted)
        hosted.load_failures += 1
        hosted.trouble = event.reason
        hosted.not_before = event.at + min(RELOAD_AFTER_MAX_S, RELOAD_AFTER_S * 2.0 ** min(9, hosted.load_failures - 1))
        self._part_with(hosted)
        if event.out_of_memory and hosted.load_failures < LOAD_FAILURES_MAX:
            hosted.loaded_bytes = int(hosted.load_bytes * 1.1)  # it takes more than predicted
            return
        ids = self._book.all_waiting(hosted)
        self._book.forget(hosted, ids)
        if ids:
            yield m.FailItems(tuple(ids), f"`{hosted.name}` does not load: {event.reason}", event.out_of_memory)

    def _evicted(self, event: m.ModelEvicted) -> Iterable[m.PlannerDecision]:
        hosted = self._book.models[event.model]
        self._book.let_go(hosted)
        self._part_with(hosted)
        return ()

    def _part_with(self, hosted: Hosted) -> None:
        if hosted.leaving and hosted.phase is Phase.ABSENT:
            self._book.learned[hosted.spec.key] = hosted.learned()
            del self._book.models[hosted.name]

    def _landed(self, batch: int) -> tuple[Flight, Hosted]:
        book = self._book
        flight = book.flights.pop(batch)
        hosted, device = book.models[flight.batch.model], book.devices[flight.device]
        del device.ledger.batches[batch]
        hosted.in_flight -= 1
        return flight, hosted

    def _ended(self, event: m.BatchEnded) -> Iterable[m.PlannerDecision]:
        flight, hosted = self._landed(event.batch)
        count, length = len(flight.waiting), flight.batch.length
        if event.peak_bytes is not None:
            hosted.activation.learn(count, length, event.peak_bytes)
        if event.took_s is not None:
            hosted.duration.learn(count, length, event.took_s)
        hosted.was_useful(event.at, flight.batch.seconds if event.took_s is None else event.took_s)
        return ()

    def _out_of_memory(self, event: m.BatchOutOfMemory) -> Iterable[m.PlannerDecision]:
        flight, hosted = self._landed(event.batch)
        device, count = self._book.devices[flight.device], len(flight.waiting)
        # Readings cannot always tell. If others were always blamed, the same batch would be planned again and again.
        often = max((one.memory_failures for one in flight.wanted), default=0) >= NEIGHBOURS_BLAMED_MAX
        room = device.room_for_batch(self._book.budget, before=event.batch)
        neighbours = not often and room < flight.batch.bytes
        if not neighbours:
            hosted.bounds.remember(count, flight.batch.length, flight.room_bytes)
        # The failed batch gave back memory that was held unused, so a second try often succeeds.
        alone = count == 1 and flight.alone and not neighbours
        hopeless = []
        for one in flight.wanted:
            one.memory_failures += 1
            lost = (alone and one.failed_alone) or one.memory_failures >= MEMORY_FAILURES_MAX
            one.failed_alone = one.failed_alone or alone
            if lost or hosted.leaving:
                hopeless.append(one.item.id)
            else:
                hosted.queue.put_back(one)
        if hopeless:
            yield m.FailItems(tuple(hopeless), f"`{hosted.name}` ran out of memory on this item", out_of_memory=True)

    def _returned(self, event: m.BatchReturned) -> Iterable[m.PlannerDecision]:
        flight, hosted = self._landed(event.batch)
        if hosted.leaving:
            yield m.FailItems(tuple(one.item.id for one in flight.wanted), f"`{hosted.name}` is no longer hosted")
            return
        for one in flight.wanted:
            hosted.queue.put_back(one)

    def _failed(self, event: m.BatchFailed) -> Iterable[m.PlannerDecision]:
        flight, hosted = self._landed(event.batch)
        wanted = flight.wanted
        if len(flight.waiting) == 1 or hosted.leaving:
            yield m.FailItems(tuple(one.item.id for one in wanted), event.reason)
            return
        middle = (len(wanted) + 1) // 2
        hosted.halves += [half for half in (wanted[:middle], wanted[middle:]) if half]
