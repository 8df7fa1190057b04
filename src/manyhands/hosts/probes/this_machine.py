"""What `manyhands probe` tells of this machine: its NVIDIA devices, and its main memory."""

import os

import psutil
from msgspec import Struct

from manyhands.readers.no_answer import NoAnswer
from manyhands.readers.nvml_reader import NvmlReader


class ReportedMemory(Struct, frozen=True):
    name: str
    memory_total_bytes: int
    memory_used_bytes: int
    utilisation: float | None = None  # 0..1


class MachineReport(Struct, frozen=True):
    devices: list[ReportedMemory]
    machine: ReportedMemory  # its main memory, which counts where there is no device
    trouble: str = ""  # why there is no device


async def report_machine(reader: NvmlReader) -> MachineReport:
    memory = psutil.virtual_memory()
    machine = ReportedMemory(os.uname().nodename, memory.total, memory.total - memory.available)
    try:
        found = await reader.read()
    except (NoAnswer, TimeoutError) as error:
        return MachineReport([], machine, str(error) or "the driver did not answer in time")
    devices = [
        ReportedMemory(
            one.uuid, one.memory_total_bytes, one.memory_total_bytes - one.memory_free_bytes, one.utilisation
        )
        for one in found
    ]
    return MachineReport(devices, machine)
