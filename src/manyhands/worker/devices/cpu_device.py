"""The machine's own memory as a device: the memory that is available within the container's limits."""

from typing import TYPE_CHECKING

from manyhands.readers.cgroup import own_groups
from manyhands.readers.machine_memory import memory_now
from manyhands.worker.values.planner_values import CPU, DeviceMemory

if TYPE_CHECKING:
    import psutil


class CpuDevice:
    def __init__(self) -> None:
        self.trouble = ""
        self._groups = own_groups()
        self._own: psutil.Process | None = None

    async def read(self) -> dict[str, DeviceMemory]:
        import psutil

        try:
            self._own = self._own or psutil.Process()
            total, used = memory_now(self._groups)
            own = int(self._own.memory_info().rss)
        except (psutil.Error, OSError) as error:
            self.trouble = f"the machine's memory cannot be read: {error}"
            return {}
        self.trouble = ""
        return {CPU: DeviceMemory(total, max(0, total - used), min(own, total))}

    async def close(self) -> None:
        pass
