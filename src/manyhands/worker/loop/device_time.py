"""How long a device worked on a batch, as far as it can be told from outside."""

from manyhands.worker.loop.computing import Computed
from manyhands.worker.values.planner_values import CPU


class DeviceTime:
    """Told of batches in the order in which they ended."""

    def __init__(self) -> None:
        self._free_at: dict[str, float] = {}  # device → when the last batch on it ended

    def of(self, device: str, computed: Computed) -> float:
        if device == CPU:
            return computed.took_s  # the thread that waits is the one that works
        # Elsewhere batches stand in line: each has the device from when the one before it ended.
        began_at = max(computed.began_at, self._free_at.get(device, 0.0))
        self._free_at[device] = max(computed.ended_at, began_at)
        return max(0.0, computed.ended_at - began_at)
