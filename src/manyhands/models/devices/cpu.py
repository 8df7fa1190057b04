"""The machine's own memory as a device: what is available, within the bounds of the container."""

from manyhands.models.model import CPU, DeviceMemory
from manyhands.probes.cgroup import own_groups
from manyhands.probes.local import memory_now


class CpuDevice:
    def __init__(self) -> None:
        self.trouble = ""
        self._groups = own_groups()

    async def read(self) -> dict[str, DeviceMemory]:
        import psutil

        try:
            total, used = memory_now(self._groups)
            own = int(psutil.Process().memory_info().rss)
        except (psutil.Error, OSError) as error:
            self.trouble = f"the machine's memory cannot be read: {error}"
            return {}
        self.trouble = ""
        return {CPU: DeviceMemory(total, max(0, total - used), min(own, total))}

    async def close(self) -> None:
        pass
