"""Tokenises and decodes in separate processes, for machines with idle cores. It takes no time from compute threads."""

import asyncio
import itertools
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from manyhands.errors import Unavailable
from manyhands.worker.backends.backend import Description
from manyhands.worker.devices.device_choice import cpu_only_environment
from manyhands.worker.loop.text_requests import CHUNK
from manyhands.worker.loop.tokenizing import Encoded, TextOrPair, shortened
from manyhands.worker.values.framing import Framing
from manyhands.worker.values.item_answers import Trouble

#: A process holds about a hundred bytes for each character while it tokenises.
CHARACTERS_AT_ONCE = 32_768


class PrepFailed(Unavailable):
    """The process could not prepare the items, or it has ended."""


class PrepProcesses:
    """A `Preparer`. Each process tokenises one chunk at a time. A process that ended is started again when needed."""

    def __init__(self, count: int) -> None:
        self._each = [_Process() for _ in range(count)]
        self._turn = itertools.cycle(self._each)

    async def encode(self, description: Description, texts: Sequence[TextOrPair], cut: bool) -> list[Encoded]:
        if cut:
            texts = [shortened(text, description.length_max) for text in texts]
        asked = [next(self._turn).ask(_request(description, chunk, cut)) for chunk in chunks_of(texts)]
        return [Encoded(*each) for answer in await asyncio.gather(*asked) for each in answer["encoded"]]

    async def vocabulary(self, description: Description) -> int:
        answer = await self._each[0].ask(_request(description, (), False))
        return int(answer["vocabulary"])

    async def decode(self, framing: Framing, file: bytes) -> bytes | Trouble:
        answer = await next(self._turn).ask(msgspec.msgpack.encode({"image": file, "framing": framing}))
        return answer["pixels"] if "pixels" in answer else msgspec.convert(answer["trouble"], Trouble)

    async def close(self) -> None:
        await asyncio.gather(*(each.close() for each in self._each))

    @property
    def pids(self) -> list[int]:
        return [each.pid for each in self._each if each.pid]


def chunks_of(texts: Sequence[TextOrPair]) -> Iterator[list[TextOrPair]]:
    """Split texts into chunks. The size of a chunk decides how much memory a process takes."""
    chunk: list[TextOrPair] = []
    characters = 0
    for text in texts:
        size = len(text) if isinstance(text, str) else len(text[0]) + len(text[1])
        if chunk and (len(chunk) == CHUNK or characters + size > CHARACTERS_AT_ONCE):
            yield chunk
            chunk, characters = [], 0
        chunk.append(text)
        characters += size
    if chunk:
        yield chunk


def _request(description: Description, texts: Sequence[TextOrPair], cut: bool) -> bytes:
    return msgspec.msgpack.encode({"tokenize": (description.tokenizer_file, description.length_max, texts, cut)})


class _Process:
    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._lock = asyncio.Lock()

    @property
    def pid(self) -> int:
        return self._process.pid if self._process is not None and self._process.returncode is None else 0

    async def ask(self, request: bytes) -> Any:
        # Always complete the exchange, even if nobody waits any more: otherwise the next request reads this answer.
        return await asyncio.shield(asyncio.create_task(self._in_turn(request)))

    async def _in_turn(self, request: bytes) -> Any:
        async with self._lock:
            for last in (False, True):
                try:
                    return await self._asked(request)
                except (OSError, asyncio.IncompleteReadError):
                    await self.close()
                    if last:
                        raise PrepFailed("the process that prepares items ended twice in a row") from None
        raise AssertionError("unreachable")

    async def close(self) -> None:
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            process.kill()
            await process.wait()

    async def _asked(self, request: bytes) -> Any:
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "manyhands.worker.loop.prep_process",
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                env=cpu_only_environment(),
            )
        sending, receiving = self._process.stdin, self._process.stdout
        assert sending is not None
        assert receiving is not None
        sending.write(len(request).to_bytes(4, "little") + request)
        await sending.drain()
        length = int.from_bytes(await receiving.readexactly(4), "little")
        answer = msgspec.msgpack.decode(await receiving.readexactly(length))
        if "error" in answer:
            raise PrepFailed(answer["error"])
        return answer
