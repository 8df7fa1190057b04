"""NVIDIA devices by UUID, as CUDA_VISIBLE_DEVICES shows them; from the management library, never through CUDA."""

from manyhands.models.model import DeviceMemory
from manyhands.probes.nvml import NvmlProbe


class NvmlDevices:
    """What the probe reads, device by device."""

    def __init__(self, visible: str | None) -> None:
        self.trouble = ""
        self._probe = NvmlProbe(visible)

    async def read(self) -> dict[str, DeviceMemory]:
        reading = await self._probe.read(0.0)
        self.trouble = self._probe.trouble
        if reading is None:
            return {}
        return {
            one.uuid: DeviceMemory(one.memory_total_bytes, one.memory_free_bytes, one.own_bytes)
            for one in self._probe.devices
        }

    async def close(self) -> None:
        await self._probe.close()
