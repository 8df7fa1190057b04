"""Chooses which batches start now. Models take fair turns, the packer picks the items, and free memory is the limit."""

from collections.abc import Iterable

from manyhands.worker.memory.memory_budget import USABLE_SHARE
from manyhands.worker.packing.batch_limits import BatchLimits, round_up
from manyhands.worker.packing.batch_plan import Waiting
from manyhands.worker.planning.planner_book import PlannerBook
from manyhands.worker.planning.planner_state import RESIDENT, Device, Flight, Hosted, Phase
from manyhands.worker.residency.evictions import plan_evictions
from manyhands.worker.values.planner_values import Batch, EvictModel, FailItems, PlannerDecision, RunBatch

#: How soon to look again when another process holds the memory.
LOOK_AGAIN_S = 1.0
#: How soon to check again whether an evicted model's memory is free.
MEMORY_BACK_S = 0.1
#: While the device is busy, a batch starts only if the waiting work takes as long as this many batch overheads.
OVERHEADS_WORTH_STARTING = 2.0


def start_batches(book: PlannerBook, at: float) -> Iterable[PlannerDecision]:
    passed_over: set[str] = set()
    while len(book.flights) < book.in_flight_max:
        hosted = whose_turn(book, passed_over)
        if hosted is None:
            return
        device = book.devices[hosted.device]
        limits = hosted.limits(device.room_for_batch(book.budget))
        if hosted.in_flight >= book.abreast_max and is_worth_waiting(hosted, limits):
            passed_over.add(hosted.name)
            continue
        waiting = next_batch(hosted, limits, past_held=at < hosted.past_held_until)
        if waiting:
            yield fly(book, hosted, device, waiting, limits)
        elif device.in_flight:
            # The items fit once the running batches have ended. Starting other batches would delay them forever.
            passed_over.update(one.name for one in book.models.values() if one.device == hosted.device)
        elif hopeless := without_hope(book, hosted, device):
            yield hopeless
        elif at >= hosted.past_held_until and (evictions := room_for_one(book, hosted, device, limits, at)):
            yield from evictions
            passed_over.add(hosted.name)
            book.wake_at(at + MEMORY_BACK_S)
        elif at >= hosted.past_held_until:
            hosted.past_held_until = at + LOOK_AGAIN_S
            book.wake_at(hosted.past_held_until)
        else:
            passed_over.add(hosted.name)
            book.wake_at(hosted.past_held_until)


def is_worth_waiting(hosted: Hosted, limits: BatchLimits) -> bool:
    """Whether a batch that would queue behind one of its own model should wait for more items.

    Most of such a batch is overhead, which items that arrive meanwhile could share.
    """
    has_company = hosted.spec.batch_items_max > 1 and not hosted.halves
    return has_company and hosted.waiting_s < OVERHEADS_WORTH_STARTING * limits.seconds.k0


def room_for_one(
    book: PlannerBook, hosted: Hosted, device: Device, limits: BatchLimits, at: float
) -> list[PlannerDecision]:
    """Evict other models if the item whose turn it is then fits."""
    others = [one for one in book.on(device.name) if one is not hosted]
    if any(one.phase is Phase.EVICTING for one in others):
        return []
    held = max(hosted.halves[0], key=lambda one: one.length) if hosted.halves else hosted.queue.held
    if held is None:
        return []
    short = hosted.activation.bytes_of(1, round_up(held.length)) - limits.room_bytes
    residents = [one.as_resident() for one in others if one.phase is RESIDENT]
    evictions = plan_evictions(residents, int(max(0, short) / USABLE_SHARE) + 1, hosted.spec.priority, at)
    for name in evictions.models:
        book.models[name].phase = Phase.EVICTING
    return [EvictModel(name) for name in evictions.models]


def whose_turn(book: PlannerBook, passed_over: set[str]) -> Hosted | None:
    """Among the models that could start a batch, the one whose next work comes first on the fair clock."""
    ready: list[Hosted] = []
    full: list[Hosted] = []
    for one in book.models.values():
        if not one.has_work:
            one.start_on_clock = None  # an idle model collects no credit
            continue
        spec = one.spec
        if one.start_on_clock is None:
            one.start_on_clock = book.clock.place(spec.name, 0.0, spec.weight)
        if one.phase is RESIDENT and one.device in book.devices:
            if one.in_flight >= spec.in_flight_max:
                full.append(one)
            elif spec.name not in passed_over:
                ready.append(one)
    if full:
        ready = [one for one in ready if not too_far_ahead(one, full)]
    if len(ready) <= 1:
        return ready[0] if ready else None
    return min(ready, key=lambda one: (one.start_on_clock or 0.0, one.used_at))


def too_far_ahead(hosted: Hosted, full: list[Hosted]) -> bool:
    """Whether a model is ahead of a model in `full` by more than its own last batch.

    A model in `full` has as many batches in flight as it may have, so the device belongs to it for now.
    """
    starts = [one.start_on_clock or 0.0 for one in full if one.device == hosted.device]
    return bool(starts) and (hosted.start_on_clock or 0.0) - min(starts) > hosted.last_batch_s / hosted.spec.weight


def next_batch(hosted: Hosted, limits: BatchLimits, past_held: bool) -> list[Waiting]:
    if hosted.halves:
        half = hosted.halves[0]
        fitting = limits.counts[half[-1].length]
        if fitting == 0:
            return hosted.queue.take(limits, past_held) if past_held else []
        hosted.halves.popleft()
        if fitting < len(half):
            hosted.halves.appendleft(half[fitting:])
        return half[:fitting]
    return hosted.queue.take(limits, past_held)


def fly(book: PlannerBook, hosted: Hosted, device: Device, waiting: list[Waiting], limits: BatchLimits) -> RunBatch:
    count, length = len(waiting), waiting[-1].length  # the items are sorted by length
    seconds = limits.seconds.of(count, length)
    # Never set aside more than the room there is: rounding up must not promise memory that does not exist.
    size = min(hosted.activation.bytes_of(count, length), max(0, limits.room_bytes))
    batch = Batch(book.new_id(), hosted.name, tuple([one.item.id for one in waiting]), length, size, seconds)
    alone = device.in_flight == 0 or book.budget.computing_max == 1
    book.flights[batch.id] = Flight(batch, waiting, device.name, limits.room_bytes, alone)
    device.ledger.batches[batch.id] = size
    hosted.in_flight += 1
    # A model that waits for one of its own batches to end keeps its place, even if this batch starts before it.
    residents = [one for one in book.models.values() if one.phase is RESIDENT]
    book.clock.advance(min([one.start_on_clock for one in residents if one.start_on_clock is not None]))
    book.clock.place(hosted.name, seconds, hosted.spec.weight)
    hosted.start_on_clock, hosted.last_batch_s = None, seconds
    return RunBatch(batch, device.name)


def without_hope(book: PlannerBook, hosted: Hosted, device: Device) -> FailItems | None:
    """Fail the items that would not fit even if the device held only their model and the pinned ones.

    None means that waiting may help.
    """
    alone = hosted.limits(book.room_at_best(device, hosted))
    hopeless = [id for id, one in hosted.queue.waiting.items() if alone.counts[one.length] == 0]
    for half in hosted.halves:
        hopeless += [one.item.id for one in half if alone.counts[one.length] == 0]
    if not hopeless:
        return None
    book.forget(hosted, hopeless)
    reason = f"the item does not fit into the memory of {device.name} beside `{hosted.name}` and the pinned models"
    return FailItems(tuple(hopeless), reason, out_of_memory=True)
