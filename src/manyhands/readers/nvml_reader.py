"""Memory and utilisation of NVIDIA devices, from the driver's management library.

It does not use CUDA, because a context would take hundreds of megabytes of the memory that is measured.
"""

import asyncio
import contextlib
import os
from typing import Any

from msgspec import Struct

from manyhands.readers.no_answer import NoAnswer
from manyhands.readers.off_loop import OffLoopCalls
from manyhands.readers.visible_devices import InstalledDevice, Partition, visible_uuids

#: A driver that takes longer than this counts as hanging, because so old a reading would be useless.
ANSWER_WITHIN_S = 1.5
#: The kernel's fixed number for the namespace outside all containers.
FIRST_PID_NAMESPACE = "pid:[4026531836]"


class DeviceState(Struct, frozen=True):
    uuid: str
    memory_total_bytes: int
    memory_free_bytes: int
    utilisation: float | None  # None: the device does not report it (MIG devices do not)
    own_bytes: int | None = None  # held by this process; None: the device does not report it


class NvmlReader:
    """The devices a CUDA program with this CUDA_VISIBLE_DEVICES would use (None: it is not set)."""

    def __init__(self, visible: str | None) -> None:
        self._visible = visible
        self._driver = OffLoopCalls("the NVIDIA driver")
        self._handle_of: dict[str, Any] = {}  # UUID → NVML handle; empty: the library is not open

    async def read(self) -> tuple[DeviceState, ...]:
        """Every visible device. Raises NoAnswer or TimeoutError if there is none."""
        async with asyncio.timeout(ANSWER_WITHIN_S):
            return await self._driver.run(self._read_devices)

    def _read_devices(self) -> tuple[DeviceState, ...]:
        import pynvml  # type: ignore[import-untyped]

        try:
            if not self._handle_of:
                self._open()
            return tuple(state_of(uuid, handle) for uuid, handle in self._handle_of.items())
        except pynvml.NVMLError as error:
            # A lost device or a reloaded driver leaves dead handles behind: open the library again next time.
            self._let_go()
            raise NoAnswer(f"no device: {error}") from None

    def _open(self) -> None:
        import pynvml

        pynvml.nvmlInit()
        try:
            uuids = visible_uuids(installed_devices(), self._visible)
            if not uuids:
                raise NoAnswer(f"no device is visible with CUDA_VISIBLE_DEVICES={self._visible!r}")
            self._handle_of = {uuid: pynvml.nvmlDeviceGetHandleByUUID(uuid) for uuid in uuids}
        finally:
            if not self._handle_of:
                pynvml.nvmlShutdown()

    def _let_go(self) -> None:
        import pynvml

        if self._handle_of:
            self._handle_of = {}
            try:
                pynvml.nvmlShutdown()
            except pynvml.NVMLError:
                return  # it was already closed

    async def close(self) -> None:
        if self._handle_of:
            with contextlib.suppress(NoAnswer, TimeoutError):  # if the driver hangs, its thread ends with our process
                async with asyncio.timeout(ANSWER_WITHIN_S):
                    await self._driver.run(self._let_go)


def state_of(uuid: str, handle: Any) -> DeviceState:
    import pynvml

    total, free = memory_of(handle)
    if not 0 <= free <= total or total == 0:
        raise NoAnswer(f"impossible answer: {free} of {total} bytes free on {uuid}")
    try:
        utilisation = int(pynvml.nvmlDeviceGetUtilizationRates(handle).gpu) / 100
    except pynvml.NVMLError_NotSupported:
        utilisation = None
    return DeviceState(uuid, total, free, utilisation, own_use(handle))


def own_use(handle: Any) -> int | None:
    """What this process holds on the device, if the driver reports it per process."""
    import pynvml

    try:
        running = pynvml.nvmlDeviceGetComputeRunningProcesses(handle)
    except pynvml.NVMLError:
        return None
    held = [process.usedGpuMemory for process in running if process.pid == os.getpid()]
    if held:
        return sum(int(each) for each in held) if None not in held else None
    # In a container the driver uses process ids of the machine, so it means nothing if ours is not listed.
    return 0 if in_first_pid_namespace() else None


def in_first_pid_namespace() -> bool:
    try:
        return os.readlink("/proc/self/ns/pid") == FIRST_PID_NAMESPACE
    except OSError:
        return False


def memory_of(handle: Any) -> tuple[int, int]:
    """(total, free) in bytes."""
    import pynvml

    try:
        memory = pynvml.nvmlDeviceGetMemoryInfo(handle, version=pynvml.nvmlMemory_v2)
    except pynvml.NVMLError_FunctionNotFound:  # drivers before R510
        memory = pynvml.nvmlDeviceGetMemoryInfo(handle)
    except pynvml.NVMLError_NotSupported:
        # The device has no separate memory: it shares the machine's.
        import psutil

        shared = psutil.virtual_memory()
        return int(shared.total), int(shared.available)
    return int(memory.total), int(memory.free)


def installed_devices() -> tuple[InstalledDevice, ...]:
    import pynvml

    devices = []
    for index in range(pynvml.nvmlDeviceGetCount()):
        handle = pynvml.nvmlDeviceGetHandleByIndex(index)
        devices.append(InstalledDevice(pynvml.nvmlDeviceGetUUID(handle), tuple(partitions_of(handle))))
    return tuple(devices)


def partitions_of(handle: Any) -> list[Partition]:
    import pynvml

    try:
        in_mig_mode = pynvml.nvmlDeviceGetMigMode(handle)[0] == pynvml.NVML_DEVICE_MIG_ENABLE
    except (pynvml.NVMLError_NotSupported, pynvml.NVMLError_FunctionNotFound):
        return []
    found = []
    for index in range(pynvml.nvmlDeviceGetMaxMigDeviceCount(handle) if in_mig_mode else 0):
        try:
            part = pynvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, index)
        except pynvml.NVMLError_NotFound:
            continue  # the numbering includes empty slots
        found.append(
            Partition(
                pynvml.nvmlDeviceGetUUID(part),
                pynvml.nvmlDeviceGetGpuInstanceId(part),
                pynvml.nvmlDeviceGetComputeInstanceId(part),
            )
        )
    return found
