"""Probes the NVIDIA devices of this machine. The fullest device determines how much room there is."""

from manyhands.core.values.widths import Reading
from manyhands.hosts.probes.guarded_probe import GuardedProbe
from manyhands.readers.nvml_reader import NvmlReader


class NvmlProbe(GuardedProbe):
    def __init__(self, reader: NvmlReader) -> None:
        super().__init__()
        self._reader = reader

    async def ask(self, at: float) -> Reading:
        devices = await self._reader.read()
        # One model may span all devices, so the fullest device determines how much room there is.
        fullest = min(devices, key=lambda device: device.memory_free_bytes / device.memory_total_bytes)
        told = [device.utilisation for device in devices if device.utilisation is not None]
        return Reading(
            at=at,
            source="nvml",
            memory_total_bytes=fullest.memory_total_bytes,
            # Computed from free memory: what the driver reserves for itself is neither free nor counted as used.
            memory_used_bytes=fullest.memory_total_bytes - fullest.memory_free_bytes,
            utilisation=max(told, default=None),
        )

    async def close(self) -> None:
        await self._reader.close()
