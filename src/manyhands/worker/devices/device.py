"""What every kind of device promises. tests/worker/devices/test_device_contract.py checks it for each kind.

- `read` answers within two seconds and never raises. On failure the answer is empty and `trouble` gives the reason.
- Free memory is what a program started now could take. It is never computed from the total.
- What this process takes or gives back shows in `free_bytes`, and in `own_bytes` if the device can tell.
- Reading opens no CUDA context and changes nothing on the device.
"""

from typing import Protocol

from manyhands.worker.values.planner_values import DeviceMemory


class Devices(Protocol):
    trouble: str  # why the last read gave nothing; "" when it gave something

    async def read(self) -> dict[str, DeviceMemory]:
        """The memory of each device by id, in the order in which programs number the devices."""

    async def close(self) -> None:
        """Release libraries. Calling it twice is harmless."""
