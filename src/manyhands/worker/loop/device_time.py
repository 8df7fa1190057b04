"""How long a device worked on a batch, as far as this is visible from outside."""

from manyhands.worker.loop.computing import Computed
from manyhands.worker.values.planner_values import CPU


class DeviceTime:
    """Call `of` for batches in the order in which they ended."""

    def __init__(self) -> None:
        self._free_at: dict[str, float] = {}  # device → when the last batch on it ended

    def of(self, device: str, computed: Computed) -> float:
        if device == CPU:
            return computed.took_s  # the thread that waits for the batch also computes it
        # On other devices batches queue: each has the device from the moment when the previous one ended.
        began_at = max(computed.began_at, self._free_at.get(device, 0.0))
        self._free_at[device] = max(computed.ended_at, began_at)
        return max(0.0, computed.ended_at - began_at)
