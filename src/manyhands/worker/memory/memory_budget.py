"""How much memory may still be set aside on a device, from what is free now and what we promised already."""

import heapq

from msgspec import Struct, field

from manyhands.worker.values.planner_values import DeviceMemory

#: What is left alone for what nobody foresees: a neighbour's growth between two readings, fragmentation.
RESERVE_BYTES = 512 * 2**20
USABLE_SHARE = 0.9


class Ledger(Struct):
    """What we set aside on a device, in bytes."""

    resident: int = 0  # models that are loaded
    loading: int = 0  # models that are being loaded: taken already, or about to be
    batches: dict[int, int] = field(default_factory=dict)  # batch in flight → its activations

    def largest(self, count: int, before: int | None = None) -> int:
        """Of the batches in flight, or those given out before another, the sum of the largest so many."""
        batches = self.batches.values() if before is None else [b for id, b in self.batches.items() if id < before]
        if count <= 1:
            return max(batches, default=0) if count == 1 else 0
        return sum(heapq.nlargest(count, batches))


class MemoryBudget(Struct, frozen=True):
    """How we treat a device's memory."""

    reserve_bytes: int = RESERVE_BYTES
    computing_max: int = 1  # batches that hold activations at once; more may be in flight, being prepared or written

    def room_for_model(self, memory: DeviceMemory, ledger: Ledger, own_at_start_bytes: int) -> int:
        """What may be set aside beside all that computes now."""
        return self._room(memory, ledger, own_at_start_bytes, ledger.largest(self.computing_max))

    def room_for_batch(
        self, memory: DeviceMemory, ledger: Ledger, own_at_start_bytes: int, before: int | None = None
    ) -> int:
        """What may be set aside for a batch that computes once another has ended, if as many compute as may.

        `before`: for one that was given out before that one, as if it were planned now.
        """
        return self._room(memory, ledger, own_at_start_bytes, ledger.largest(self.computing_max - 1, before))

    def room_at_most(self, total_bytes: int) -> int:
        """If nobody else were on the device and we held nothing more."""
        return int(USABLE_SHARE * total_bytes) - self.reserve_bytes

    def _room(self, memory: DeviceMemory, ledger: Ledger, own_at_start_bytes: int, batches_bytes: int) -> int:
        """Below 0 when a neighbour took what we counted on."""
        beside = ledger.loading + batches_bytes
        free = memory.free_bytes + memory.reusable_bytes - beside
        if memory.own_bytes is not None:
            # What models and batches in flight have taken already is not free, and must not be counted twice.
            taken = memory.own_bytes - own_at_start_bytes - memory.reusable_bytes - ledger.resident
            if taken > 0:
                free += min(taken, ledger.loading + ledger.largest(self.computing_max))
        return int(USABLE_SHARE * min(free, memory.total_bytes - ledger.resident - beside)) - self.reserve_bytes
