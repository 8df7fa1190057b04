"""A file with a line of JSON for each result."""

import asyncio
import os
from pathlib import Path

from manyhands.engine.delivery.sinks.letters import Letter
from manyhands.engine.delivery.sinks.sink import SinkError


class FileSink:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = asyncio.Lock()
        self._waiting: list[tuple[bytes, asyncio.Future[None]]] = []

    async def send(self, letter: Letter) -> None:
        """What comes while the disk is busy goes with the next write, together."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((letter.encoded() + b"\n", done))
        async with self._lock:
            if not done.done():
                batch, self._waiting = self._waiting, []
                await self._write(batch)
        await done

    async def _write(self, batch: list[tuple[bytes, "asyncio.Future[None]"]]) -> None:
        error: SinkError | None = None
        try:
            await asyncio.to_thread(self._append, b"".join(line for line, _ in batch))
        except OSError as problem:
            error = SinkError(f"cannot write to `{self._path}`: {problem.strerror}")
        for _, done in batch:
            if done.done():
                continue
            if error is None:
                done.set_result(None)
            else:
                done.set_exception(error)

    def _append(self, lines: bytes) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            size = os.fstat(descriptor).st_size
            # A crash may have left half a line: it is ended, so that it spoils no other.
            if size and os.pread(descriptor, 1, size - 1) != b"\n":
                lines = b"\n" + lines
            rest = memoryview(lines)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    async def close(self) -> None: ...
