"""How much memory may still be set aside on a device, given what is free now and what is already promised."""

import heapq

from msgspec import Struct, field

from manyhands.worker.values.planner_values import DeviceMemory

#: Left unused for the unforeseen: other processes that grow between two readings, and fragmentation.
RESERVE_BYTES = 512 * 2**20
USABLE_SHARE = 0.9


class Ledger(Struct):
    """The memory that is set aside on a device, in bytes."""

    resident: int = 0  # for models that are loaded
    loading: int = 0  # for models that are being loaded; they may hold a part of it already
    batches: dict[int, int] = field(default_factory=dict)  # batch in flight → its activations

    def largest(self, count: int, before: int | None = None) -> int:
        """The sum of the `count` largest batches in flight, or of those started before the batch `before`."""
        batches = self.batches.values() if before is None else [b for id, b in self.batches.items() if id < before]
        if count <= 1:
            return max(batches, default=0) if count == 1 else 0
        return sum(heapq.nlargest(count, batches))


class MemoryBudget(Struct, frozen=True):
    """How much of a device's memory the worker uses."""

    reserve_bytes: int = RESERVE_BYTES
    computing_max: int = 1  # batches that hold activations at once; others in flight are being prepared or written

    def room_for_model(self, memory: DeviceMemory, ledger: Ledger, own_at_start_bytes: int) -> int:
        """What may be set aside for a model, in addition to all batches that compute now."""
        return self._room(memory, ledger, own_at_start_bytes, ledger.largest(self.computing_max))

    def room_for_batch(
        self, memory: DeviceMemory, ledger: Ledger, own_at_start_bytes: int, before: int | None = None
    ) -> int:
        """What may be set aside for a batch. If `computing_max` batches compute, it waits until one of them has ended.

        With `before`, the room is that of the batch `before` if it were planned now: later batches do not count.
        """
        return self._room(memory, ledger, own_at_start_bytes, ledger.largest(self.computing_max - 1, before))

    def room_at_most(self, total_bytes: int) -> int:
        """The room if no other process used the device and this process held nothing else."""
        return int(USABLE_SHARE * total_bytes) - self.reserve_bytes

    def _room(self, memory: DeviceMemory, ledger: Ledger, own_at_start_bytes: int, batches_bytes: int) -> int:
        """The room. It is negative if another process took memory that the worker counted on."""
        beside = ledger.loading + batches_bytes
        free = memory.free_bytes + memory.reusable_bytes - beside
        if memory.own_bytes is not None:
            # Memory that models and batches in flight already hold is no longer free; do not subtract it twice.
            taken = memory.own_bytes - own_at_start_bytes - memory.reusable_bytes - ledger.resident
            if taken > 0:
                free += min(taken, ledger.loading + ledger.largest(self.computing_max))
        return int(USABLE_SHARE * min(free, memory.total_bytes - ledger.resident - beside)) - self.reserve_bytes
