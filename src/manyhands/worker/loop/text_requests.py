"""Turns requests into answers. Each item is checked and prepared by itself; the valid ones are computed together."""

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Protocol

from manyhands.worker.backends.backend import Chat, Description, Pixels, Tokens
from manyhands.worker.backends.backend_choice import image_tower_of
from manyhands.worker.loop.image_decoding import decoded
from manyhands.worker.loop.image_room import ImageRoom
from manyhands.worker.loop.image_sources import ImageSources
from manyhands.worker.loop.tokenizing import Encoded, TextOrPair, Tokenizing
from manyhands.worker.loop.validation import wrong_with_ids, wrong_with_length, wrong_with_text
from manyhands.worker.loop.worker_loop import WorkerLoop
from manyhands.worker.values.framing import Framing
from manyhands.worker.values.item_answers import ItemAnswer, Trouble, WrongTask

#: Texts tokenised in one call: enough to be cheap, few enough to be shared among threads.
CHUNK = 64
ANSWER_TOKENS = 256


class Preparer(Protocol):
    """Tokenises texts and decodes images off the event loop."""

    async def encode(self, description: Description, texts: Sequence[TextOrPair], cut: bool) -> list[Encoded]: ...

    async def vocabulary(self, description: Description) -> int: ...

    async def decode(self, framing: Framing, file: bytes) -> bytes | Trouble: ...

    async def close(self) -> None: ...


class Threads:
    """A `Preparer` on threads. Tokenizers and decoders release the GIL, which is enough for most uses."""

    def __init__(self, count: int = 1) -> None:
        self._pool = ThreadPoolExecutor(count, "prepare")
        self._tokenizing: dict[str, Tokenizing] = {}

    async def encode(self, description: Description, texts: Sequence[TextOrPair], cut: bool) -> list[Encoded]:
        loop = asyncio.get_running_loop()
        chunks = [texts[begin : begin + CHUNK] for begin in range(0, len(texts), CHUNK)]
        doing = [loop.run_in_executor(self._pool, self._encode, description, chunk, cut) for chunk in chunks]
        return [encoded for chunk in await asyncio.gather(*doing) for encoded in chunk]

    async def vocabulary(self, description: Description) -> int:
        loop = asyncio.get_running_loop()
        return (await loop.run_in_executor(self._pool, self._of, description)).vocabulary

    async def decode(self, framing: Framing, file: bytes) -> bytes | Trouble:
        return await asyncio.get_running_loop().run_in_executor(self._pool, decoded, file, framing)

    async def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _encode(self, description: Description, texts: Sequence[TextOrPair], cut: bool) -> list[Encoded]:
        return self._of(description).encode(texts, cut)

    def _of(self, description: Description) -> Tokenizing:
        found = self._tokenizing.get(description.tokenizer_file)
        if found is None:  # two threads may both read the file once; the last one is kept
            found = Tokenizing(description.tokenizer_file, description.length_max)
            self._tokenizing[description.tokenizer_file] = found
        return found


class TextRequests:
    """What the HTTP server and other callers ask of the worker."""

    def __init__(
        self,
        engine: WorkerLoop,
        preparer: Preparer,
        cuts: dict[str, bool] | None = None,
        sources: Mapping[str, ImageSources] | None = None,
    ) -> None:
        self.engine = engine
        self._preparer = preparer
        self._sources = sources or {}  # model of images and texts → where its images may come from
        self._rooms: dict[str, ImageRoom] = {}
        self._cuts = cuts or {}  # model → whether over-long texts are cut when the caller does not say

    async def answers(
        self, model: str, inputs: Sequence[Any], *, cut: bool | None = None, app: str = "", priority: int = 2
    ) -> list[ItemAnswer | Trouble]:
        """One answer for each input, which is a text, a pair of texts, or tokens."""
        description = self.engine.description(model)
        cut = self._cuts.get(model, False) if cut is None else cut
        told: list[ItemAnswer | Trouble | None] = [None] * len(inputs)
        texts: list[tuple[int, TextOrPair]] = []
        rows: list[tuple[int, Encoded]] = []
        for place, each in enumerate(inputs):
            if isinstance(each, list):
                told[place] = wrong_with_ids(each, await self._preparer.vocabulary(description))
                if told[place] is None:
                    rows.append((place, Encoded(each[: description.length_max] if cut else each, [])))
                continue
            for part in each if isinstance(each, tuple) else (each,):
                told[place] = told[place] or wrong_with_text(part, description.length_max, cut)
            if told[place] is None:
                texts.append((place, each))
        encoded = await self._preparer.encode(description, [text for _, text in texts], cut) if texts else []
        rows += [(place, one) for (place, _), one in zip(texts, encoded, strict=True)]
        for place, one in rows:
            told[place] = wrong_with_length(len(one.ids), description.length_max)
        good = [(place, one) for place, one in rows if told[place] is None]
        whole = description.length_max if description.is_fixed_length else 0
        tokens = [(Tokens(one.ids, one.types), whole or len(one.ids)) for _, one in good]
        for (place, _), answer in zip(good, await self.engine.run(model, tokens, app, priority), strict=True):
            told[place] = answer
        return [answer for answer in told if answer is not None]

    async def images(
        self, model: str, inputs: Sequence[object], *, app: str = "", priority: int = 2
    ) -> list[ItemAnswer | Trouble]:
        """One answer for each image, which is a data URI, a URL or a path. The vectors are of the texts' space."""
        if model not in self._sources:
            there = f"use {' or '.join(f'`{each}`' for each in self._sources)}" if self._sources else ""
            raise WrongTask(f"model `{model}` does not embed images", there or "host a CLIP or SigLIP model")
        tower = image_tower_of(model)
        description = self.engine.description(tower)
        assert description.framing is not None
        room = self._rooms.setdefault(model, ImageRoom(model, description.spec().queue_items_max))
        with room.taken(len(inputs)):
            decode = partial(self._preparer.decode, description.framing)
            found = await self._sources[model].read_into(decode, inputs)
            rows = [Pixels(each, description.length_max) for each in found if isinstance(each, bytes)]
            computed = iter(await self.engine.run(tower, [(row, row.length) for row in rows], app, priority))
            return [each if isinstance(each, Trouble) else next(computed) for each in found]

    async def chat(self, model: str, chat: Chat, app: str = "", priority: int = 2) -> ItemAnswer | Trouble:
        description = self.engine.description(model)
        wanted = chat.request.get("max_completion_tokens") or chat.request.get("max_tokens") or ANSWER_TOKENS
        # This estimates four characters per token. The model itself reports a prompt that is too long.
        prompt = sum(len(str(message)) for message in chat.request.get("messages", ())) // 4
        length = max(1, min(prompt + int(wanted), description.length_max))
        (answer,) = await self.engine.run(model, [(chat, length)], app, priority)
        return answer
