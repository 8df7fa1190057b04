"""A command that prints the memory of a device elsewhere, such as `ssh box nvidia-smi …`. No shell reads it.

A command may take longer than a reading may: then its last answer counts until it is too old.
"""

import asyncio
import contextlib
import os
import signal
from collections.abc import Sequence

from msgspec.structs import replace

from manyhands.core.values.widths import Reading
from manyhands.hosts.probes.device_report import reading_of
from manyhands.hosts.probes.guarded_probe import ANSWER_WITHIN_S, GuardedProbe, StillAsking
from manyhands.readers.no_answer import NoAnswer

COMMAND_WITHIN_S = 10.0
#: How long the last answer counts while the next one is awaited.
FRESH_S = 10.0
OUTPUT_BYTES_MAX = 256 << 10


class CommandProbe(GuardedProbe):
    def __init__(self, argv: Sequence[str], within_s: float = COMMAND_WITHIN_S) -> None:
        super().__init__()
        self._argv = tuple(argv)
        self._within_s = within_s
        self._running: asyncio.Task[Reading] | None = None
        self._last: Reading | None = None

    async def ask(self, at: float) -> Reading:
        if self._running is None:
            self._running = asyncio.create_task(self._read(at))
        done, _ = await asyncio.wait({self._running}, timeout=ANSWER_WITHIN_S * 0.8)
        if done:
            running, self._running = self._running, None
            self._last = None
            self._last = running.result()
        if self._last is None or at - self._last.at > FRESH_S:
            raise StillAsking
        return replace(self._last, at=at)

    async def _read(self, at: float) -> Reading:
        try:
            process = await asyncio.create_subprocess_exec(
                *self._argv,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise NoAnswer(f"`{self._argv[0]}` cannot be started: {error}") from None
        assert process.stdout is not None
        try:
            async with asyncio.timeout(self._within_s):
                output = bytearray()
                while piece := await process.stdout.read(64 << 10):
                    output += piece
                    if len(output) > OUTPUT_BYTES_MAX:
                        raise NoAnswer(f"`{self._argv[0]}` printed more than {OUTPUT_BYTES_MAX >> 10} kB")
                code = await process.wait()
        except TimeoutError:
            raise NoAnswer(f"`{self._argv[0]}` took longer than {self._within_s:g} s") from None
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
        if code != 0:
            raise NoAnswer(f"`{self._argv[0]}` failed with exit {code}")
        return reading_of(bytes(output), at, "command")

    async def close(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            running.cancel()
            await asyncio.wait({running})
