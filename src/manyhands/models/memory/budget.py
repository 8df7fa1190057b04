"""How much memory may still be set aside on a device, from what is free now and what we promised already."""

from msgspec import Struct

from manyhands.models.model import DeviceMemory

#: What is left alone for what nobody foresees: a neighbour's growth between two readings, fragmentation.
RESERVE_BYTES = 512 * 2**20
USABLE_SHARE = 0.9


class Ledger(Struct):
    """What we set aside on a device, in bytes."""

    resident: int = 0  # models that are loaded
    promised: int = 0  # models that are being loaded and batches in flight: taken already or about to be

    @property
    def total(self) -> int:
        return self.resident + self.promised


def room_bytes(
    memory: DeviceMemory, ledger: Ledger, own_at_start_bytes: int = 0, reserve_bytes: int = RESERVE_BYTES
) -> int:
    """What may be set aside on top; below 0 when a neighbour took what we counted on."""
    free = memory.free_bytes + memory.reusable_bytes - not_taken_yet(memory, ledger, own_at_start_bytes)
    return int(USABLE_SHARE * min(free, memory.total_bytes - ledger.total)) - reserve_bytes


def not_taken_yet(memory: DeviceMemory, ledger: Ledger, own_at_start_bytes: int) -> int:
    """Of what is promised, what the reading does not show as taken; all of it where the device cannot tell."""
    if memory.own_bytes is None:
        return ledger.promised
    taken = memory.own_bytes - own_at_start_bytes - memory.reusable_bytes
    return min(ledger.promised, max(0, ledger.total - taken))
