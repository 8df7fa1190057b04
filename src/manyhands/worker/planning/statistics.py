"""The planner's state as immutable figures, for metrics and health."""

from msgspec import Struct

from manyhands.worker.planning.planner_book import PlannerBook


class ModelFigures(Struct, frozen=True):
    model: str
    phase: str
    device: str
    bytes: int
    waiting: int
    waiting_tokens: int
    waiting_s: float  # about how long the waiting items will take
    in_flight: int
    trouble: str


class DeviceFigures(Struct, frozen=True):
    device: str
    total_bytes: int
    free_bytes: int
    resident_bytes: int
    loading_bytes: int
    batch_bytes: int  # set aside for the batches that compute
    room_bytes: int  # what may still be set aside for a model
    in_flight: int


class Statistics(Struct, frozen=True):
    models: tuple[ModelFigures, ...]
    devices: tuple[DeviceFigures, ...]


def statistics_of(book: PlannerBook) -> Statistics:
    return Statistics(
        tuple(
            ModelFigures(
                one.name,
                one.phase.value,
                one.device,
                one.bytes,
                len(one.queue) + sum(len(half) for half in one.halves),
                one.queue.tokens,
                one.waiting_s,
                one.in_flight,
                one.trouble,
            )
            for one in book.models.values()
        ),
        tuple(
            DeviceFigures(
                one.name,
                one.memory.total_bytes,
                one.memory.free_bytes,
                one.ledger.resident,
                one.ledger.loading,
                one.ledger.largest(book.budget.computing_max),
                one.room_for_model(book.budget),
                one.in_flight,
            )
            for one in book.devices.values()
        ),
    )
