"""Decides which models are loaded and evicted now.

Models with work are loaded, and others make room. A load starts only once a reading shows that the memory is free.
"""

from collections.abc import Iterable

from manyhands.worker.memory.memory_budget import USABLE_SHARE
from manyhands.worker.planning.planner_book import PlannerBook
from manyhands.worker.planning.planner_state import RESIDENT, Device, Hosted, Phase
from manyhands.worker.residency.evictions import plan_evictions
from manyhands.worker.values.planner_values import EvictModel, FailItems, LoadModel, PlannerDecision

#: How long to wait for an evicted model's memory before more models are asked to make room.
ROOM_WITHIN_S = 5.0
LOOK_AGAIN_S = 0.1
#: How soon to look again when other processes hold the memory and none of our models can make room.
WAIT_FOR_NEIGHBOURS_S = 1.0


def place_models(book: PlannerBook, at: float) -> Iterable[PlannerDecision]:
    for device in book.devices.values():
        device.kept_for_loading_bytes = 0
    unsettled = [one for one in book.models.values() if one.phase is not RESIDENT]
    return settle(book, unsettled, at) if unsettled else ()


def settle(book: PlannerBook, unsettled: list[Hosted], at: float) -> Iterable[PlannerDecision]:
    for hosted in wanted_models(book, unsettled, at):
        if not book.devices:
            return
        yield from place(book, hosted, at)
    for one in book.models.values():
        if one.phase is Phase.DRAINING and one.in_flight == 0:
            one.phase = Phase.EVICTING
            yield EvictModel(one.name)


def wanted_models(book: PlannerBook, unsettled: list[Hosted], at: float) -> list[Hosted]:
    wanted = [
        one for one in unsettled if one.phase is Phase.ABSENT and not one.leaving and (one.has_work or one.spec.pinned)
    ]
    for one in wanted:
        if one.not_before > at:
            book.wake_at(one.not_before)
        elif one.start_on_clock is None:
            one.start_on_clock = book.clock.place(one.name, 0.0, one.spec.weight)
    ready = [one for one in wanted if one.not_before <= at]
    return sorted(ready, key=lambda one: (not one.spec.pinned, one.spec.priority, one.start_on_clock or 0.0))


def place(book: PlannerBook, hosted: Hosted, at: float) -> Iterable[PlannerDecision]:
    """Load the model where there is most room. If it fits nowhere, make room where that takes the least."""
    smallest_batch = smallest_batch_bytes(hosted)
    need = hosted.load_bytes + smallest_batch
    roomiest = max(book.devices.values(), key=lambda device: device.room_for_model(book.budget))
    if roomiest.room_for_model(book.budget) >= need:
        yield load(hosted, roomiest)
        return
    if all(book.room_at_best(device, hosted) < need for device in book.devices.values()):
        yield from give_up(book, hosted, need)
        return
    if hosted.room_asked_at is not None and at - hosted.room_asked_at < ROOM_WITHIN_S:
        keep_room(book, hosted, need)
        book.wake_at(at + LOOK_AGAIN_S)
        return
    make_room(book, hosted, need, at)


def make_room(book: PlannerBook, hosted: Hosted, need: int, at: float) -> None:
    again: list[float] = []
    for device in sorted(book.devices.values(), key=lambda one: -one.room_for_model(book.budget)):
        # The memory of running batches becomes free by itself.
        coming = int(USABLE_SHARE * device.ledger.largest(book.budget.computing_max))
        short = need - device.room_for_model(book.budget) - coming
        if short <= 0:
            device.kept_for_loading_bytes += need
            book.wake_at(at + LOOK_AGAIN_S)
            return
        residents = [one.as_resident() for one in book.on(device.name) if one.phase is RESIDENT]
        evictions = plan_evictions(residents, int(short / USABLE_SHARE) + 1, hosted.spec.priority, at)
        if evictions.models:
            for name in evictions.models:
                book.models[name].phase = Phase.DRAINING
            hosted.room_asked_at = at
            device.kept_for_loading_bytes += need
            book.wake_at(at + LOOK_AGAIN_S)
            return
        if evictions.again_at is not None:
            again.append(evictions.again_at)
    book.wake_at(min([*again, at + WAIT_FOR_NEIGHBOURS_S]))


def keep_room(book: PlannerBook, hosted: Hosted, need: int) -> None:
    """Keep batches from taking the room that is being made for this model."""
    for device in book.devices.values():
        if any(one.phase in (Phase.DRAINING, Phase.EVICTING) for one in book.on(device.name)):
            device.kept_for_loading_bytes += need


def load(hosted: Hosted, device: Device) -> LoadModel:
    hosted.phase, hosted.device, hosted.bytes = Phase.LOADING, device.name, hosted.load_bytes
    hosted.room_asked_at = None
    device.ledger.loading += hosted.bytes
    return LoadModel(hosted.name, device.name, hosted.bytes)


def give_up(book: PlannerBook, hosted: Hosted, need: int) -> Iterable[PlannerDecision]:
    ids = book.all_waiting(hosted)
    book.forget(hosted, ids)
    if ids:
        most = max(book.room_at_best(device, hosted) for device in book.devices.values())
        reason = f"`{hosted.name}` needs {need / 2**20:,.0f} MiB; at most {max(0, most) / 2**20:,.0f} MiB can be freed"
        yield FailItems(tuple(ids), reason, out_of_memory=True)


def smallest_batch_bytes(hosted: Hosted) -> int:
    """Bytes for one item of average length. Longer items wait for their room once the model is loaded."""
    return hosted.activation.bytes_of(1, max(1, hosted.queue.tokens // max(1, len(hosted.queue))))
