"""Devices with simulated memory, for tests and simulations. They keep the same contract as the real ones."""

from msgspec import Struct

from manyhands.worker.values.planner_values import DeviceMemory


class OutOfMemory(Exception):
    """The simulated device does not have that much free memory."""


class SimulatedDevice(Struct):
    total_bytes: int
    own_bytes: int = 0
    others_want_bytes: int = 0  # other processes take it as soon as it is free
    tells_own: bool = True

    @property
    def others_bytes(self) -> int:
        return min(self.others_want_bytes, self.total_bytes - self.own_bytes)

    @property
    def free_bytes(self) -> int:
        return self.total_bytes - self.own_bytes - self.others_bytes

    def take(self, size: int) -> None:
        if size > self.free_bytes:
            raise OutOfMemory(f"{size} bytes were requested, {self.free_bytes} are free")
        self.own_bytes += size

    def give_back(self, size: int) -> None:
        self.own_bytes -= size

    def memory(self) -> DeviceMemory:
        return DeviceMemory(self.total_bytes, self.free_bytes, self.own_bytes if self.tells_own else None)


class SimulatedDevices:
    def __init__(self, devices: dict[str, SimulatedDevice]) -> None:
        self.trouble = ""
        self.devices = devices

    async def read(self) -> dict[str, DeviceMemory]:
        self.trouble = "" if self.devices else "no device was simulated"
        return {name: device.memory() for name, device in self.devices.items()}

    async def close(self) -> None:
        pass
