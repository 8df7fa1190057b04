"""Reads devices in a separate process, which holds a known amount of memory and can load a fake driver library.

If this file is run as a program, it is that process: it executes each line of input and answers with a line.
"""

import asyncio
import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec

from manyhands.worker.devices.cpu_device import CpuDevice
from manyhands.worker.devices.device import Devices
from manyhands.worker.devices.nvml_devices import NvmlDevices
from manyhands.worker.devices.simulated_devices import SimulatedDevice, SimulatedDevices
from manyhands.worker.values.planner_values import DeviceMemory

MIB = 2**20


class DeviceChild:
    """Implements the interface of devices. The devices themselves are at the other end of a pipe."""

    def __init__(self, kind: str, environment: dict[str, str] | None = None) -> None:
        self.trouble = ""
        self._kind = kind
        self._environment = {**os.environ, **(environment or {})}
        self._process: asyncio.subprocess.Process | None = None

    async def ask(self, what: str, **more: object) -> Any:
        if self._process is None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                __file__,
                self._kind,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=self._environment,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"what": what, **more}).encode() + b"\n")
        async with asyncio.timeout(90):
            return json.loads(await self._process.stdout.readline())

    async def read(self) -> dict[str, DeviceMemory]:
        answer = await self.ask("read")
        self.trouble = answer["trouble"]
        return msgspec.convert(answer["devices"], dict[str, DeviceMemory])

    async def take(self, size: int) -> None:
        await self.ask("take", size=size)

    async def give_back(self) -> None:
        await self.ask("give back")

    async def mapped_files(self) -> list[str]:
        return [str(name) for name in await self.ask("maps")]

    async def close(self) -> None:
        if self._process is None:
            return
        process, self._process = self._process, None
        assert process.stdin is not None
        process.stdin.close()
        try:
            async with asyncio.timeout(90):
                assert await process.wait() == 0
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()


class Holder:
    """Takes and gives back memory of the device that is read."""

    def __init__(self, kind: str) -> None:
        self.simulated = SimulatedDevice(24 * 2**30, others_want_bytes=2**30)
        self.kind = kind
        self.held = 0
        self._bytes = bytearray()

    def hold(self, size: int) -> None:
        if self.kind == "cpu":
            self._bytes = bytearray(os.urandom(MIB)) * (size // MIB)  # writing makes it resident
        elif self.kind == "simulated":
            self.simulated.give_back(self.held)
            self.simulated.take(size)
        else:
            Path(os.environ["FAKE_NVML_USE"]).write_text(f"{size // MIB} 1024\n")
        self.held = size


def mapped_files() -> list[str]:
    maps = Path("/proc/self/maps").read_text()
    return sorted({line.split(maxsplit=5)[5] for line in maps.splitlines() if "/" in line})


async def answer_questions(kind: str) -> None:
    holder = Holder(kind)
    kinds: dict[str, Devices] = {
        "cpu": CpuDevice(),
        "simulated": SimulatedDevices({"gpu-0": holder.simulated}),
        "nvml": NvmlDevices(os.environ.get("CUDA_VISIBLE_DEVICES")),
    }
    devices = kinds[kind]
    for line in sys.stdin:
        question = json.loads(line)
        answer: object = None
        match question["what"]:
            case "read":
                read = await devices.read()
                answer = {"devices": msgspec.to_builtins(read), "trouble": devices.trouble}
            case "take":
                holder.hold(question["size"])
            case "give back":
                holder.hold(0)
            case "maps":
                answer = mapped_files()
        print(json.dumps(answer), flush=True)
    await devices.close()
    await devices.close()  # calling it twice is harmless


if __name__ == "__main__":
    asyncio.run(answer_questions(sys.argv[1]))
