"""NVML read in a process of its own, where a fake driver library can stand in for the real one.

A library stays in the process that loaded it, so the tests must not load it into theirs. Run as a program, this
file is that process: it answers each line with a reading.
"""

import asyncio
import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from manyhands.core.values.widths import Reading
from manyhands.hosts.probes.nvml_probe import NvmlProbe
from manyhands.readers.nvml_reader import DeviceState, NvmlReader


def build_library(source: Path, library: Path) -> None:
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("no gcc to build the fake NVIDIA driver library with")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, source], check=True)


class NvmlChild:
    """Has the interface of a probe; the probe is at the other end of a pipe."""

    def __init__(self, libraries: Path | None, state: Path, visible: str | None = None) -> None:
        self.trouble = ""
        self.took_s = 0.0  # as measured on the other side
        self.devices: list[dict[str, object]] = []
        self._environment = {**os.environ, "FAKE_NVML_STATE": str(state)}
        self._environment.pop("CUDA_VISIBLE_DEVICES", None)
        if libraries is not None:
            self._environment["LD_LIBRARY_PATH"] = str(libraries)
        if visible is not None:
            self._environment["CUDA_VISIBLE_DEVICES"] = visible
        self._process: asyncio.subprocess.Process | None = None

    async def ask(self, question: dict[str, object]) -> dict[str, object]:
        if self._process is None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                __file__,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=self._environment,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question).encode() + b"\n")
        async with asyncio.timeout(90):
            return json.loads(await self._process.stdout.readline())

    async def read(self, at: float) -> Reading | None:
        answer = await self.ask({"at": at})
        self.trouble = str(answer["trouble"])
        self.took_s = float(str(answer["took_s"]))
        self.devices = msgspec.convert(answer["devices"], list[dict[str, object]])
        return msgspec.convert(answer["reading"], Reading | None)

    async def cuda_libraries(self) -> list[str]:
        return msgspec.convert((await self.ask({"maps": True}))["cuda"], list[str])

    async def close(self) -> None:
        """Ends the process by the end of its input, as any program ends; it must not need killing."""
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


def mapped_cuda_libraries() -> list[str]:
    """Files of CUDA mapped into this process, whoever loaded them."""
    maps = Path("/proc/self/maps").read_text()
    files = {line.split(maxsplit=5)[5] for line in maps.splitlines() if "/" in line}
    return sorted(file for file in files if Path(file).name.startswith(("libcuda.", "libcudart")))


class RecordingReader(NvmlReader):
    """Keeps what it read last, to be told beside the reading that the probe makes of it."""

    devices: tuple[DeviceState, ...] = ()

    async def read(self) -> tuple[DeviceState, ...]:
        self.devices = ()
        self.devices = await super().read()
        return self.devices


async def answer_questions() -> None:
    reader = RecordingReader(os.environ.get("CUDA_VISIBLE_DEVICES"))
    probe = NvmlProbe(reader)
    for line in sys.stdin:
        question = json.loads(line)
        if "maps" in question:
            print(json.dumps({"cuda": mapped_cuda_libraries()}), flush=True)
            continue
        began = time.monotonic()
        reading = await probe.read(question["at"])
        answer = {
            "reading": reading,
            "trouble": probe.trouble,
            "took_s": time.monotonic() - began,
            "devices": reader.devices,
        }
        print(msgspec.json.encode(answer).decode(), flush=True)
    await probe.close()


if __name__ == "__main__":
    asyncio.run(answer_questions())
