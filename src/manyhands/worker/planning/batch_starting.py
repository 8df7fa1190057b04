"""Which batches start now: models by fair turns, items by the packer, as far as memory goes."""

from collections.abc import Iterable

from manyhands.worker.memory.memory_budget import USABLE_SHARE
from manyhands.worker.packing.batch_limits import BatchLimits, round_up
from manyhands.worker.packing.batch_plan import Waiting
from manyhands.worker.planning.planner_book import PlannerBook
from manyhands.worker.planning.planner_state import RESIDENT, Device, Flight, Hosted, Phase
from manyhands.worker.residency.evictions import plan_evictions
from manyhands.worker.values.planner_values import Batch, Decision, EvictModel, FailItems, RunBatch

#: How soon to look again when a neighbour has the memory.
LOOK_AGAIN_S = 1.0
#: How soon to look again whether an evicted model's memory is back.
MEMORY_BACK_S = 0.1
#: A batch is given out before the device is free for it once all that waits takes as long as so many overheads.
OVERHEADS_WORTH_STARTING = 2.0


def start_batches(book: PlannerBook, at: float) -> Iterable[Decision]:
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
            # What does not fit now will when these have ended; starting others would put that off for ever.
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
    """For a batch that would only stand behind one of its own model: most of it is overhead that others could share."""
    has_company = hosted.spec.batch_items_max > 1 and not hosted.halves
    return has_company and hosted.waiting_s < OVERHEADS_WORTH_STARTING * limits.seconds.k0


def room_for_one(book: PlannerBook, hosted: Hosted, device: Device, limits: BatchLimits, at: float) -> list[Decision]:
    """Other models go if that makes the item fit whose turn it is."""
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
    """Of the models that could start a batch, the one whose next work is first on the fair clock."""
    ready: list[Hosted] = []
    full: list[Hosted] = []
    for one in book.models.values():
        if not one.has_work:
            one.start_on_clock = None  # idleness earns nothing
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
    """By more than its last batch before one that has all in flight it may have: the device is that one's for now."""
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
    count, length = len(waiting), waiting[-1].length  # they come by length
    seconds = limits.seconds.of(count, length)
    # What is set aside never exceeds the room there is: rounding must not turn into a promise nobody can keep.
    size = min(hosted.activation.bytes_of(count, length), max(0, limits.room_bytes))
    batch = Batch(book.new_id(), hosted.name, tuple([one.item.id for one in waiting]), length, size, seconds)
    alone = device.in_flight == 0 or book.budget.computing_max == 1
    book.flights[batch.id] = Flight(batch, waiting, device.name, limits.room_bytes, alone)
    device.ledger.batches[batch.id] = size
    hosted.in_flight += 1
    # A model that waits for one of its own batches to end keeps its place, even if this one goes before it.
    residents = [one for one in book.models.values() if one.phase is RESIDENT]
    book.clock.advance(min([one.start_on_clock for one in residents if one.start_on_clock is not None]))
    book.clock.place(hosted.name, seconds, hosted.spec.weight)
    hosted.start_on_clock, hosted.last_batch_s = None, seconds
    return RunBatch(batch, device.name)


def without_hope(book: PlannerBook, hosted: Hosted, device: Device) -> FailItems | None:
    """Items that would not fit if the device held nothing but their model and the pinned; None: waiting may help."""
    alone = hosted.limits(book.room_at_best(device, hosted))
    hopeless = [id for id, one in hosted.queue.waiting.items() if alone.counts[one.length] == 0]
    for half in hosted.halves:
        hopeless += [one.item.id for one in half if alone.counts[one.length] == 0]
    if not hopeless:
        return None
    book.forget(hosted, hopeless)
    reason = f"does not fit into the memory of {device.name} beside `{hosted.name}` and what is pinned"
    return FailItems(tuple(hopeless), reason, out_of_memory=True)
