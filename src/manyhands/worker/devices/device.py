"""What every kind of device promises; held for each by tests/models/devices/test_device_contract.py.

- `read` answers within two seconds and never raises: what goes wrong is an empty answer and a sentence in `trouble`.
- Free memory is what a program started now could take; it is never worked out from the total.
- What this process takes or gives back shows in `free_bytes`, and in `own_bytes` where the device can tell.
- Reading opens no CUDA context and changes nothing on the device.
"""

from typing import Protocol

from manyhands.worker.values.planner_values import DeviceMemory


class Devices(Protocol):
    trouble: str  # why the last read gave nothing; "" when it gave something

    async def read(self) -> dict[str, DeviceMemory]:
        """By the device's id, in the order a program sees them."""

    async def close(self) -> None:
        """Let go of libraries; harmless when called twice."""
