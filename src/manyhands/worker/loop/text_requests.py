"""Turns requests into answers. Each item is checked and tokenised by itself; the valid ones are computed together."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

from manyhands.worker.backends.backend import Chat, Description, Tokens
from manyhands.worker.loop.tokenizing import Encoded, Text, Tokenizing
from manyhands.worker.loop.validation import wrong_with_ids, wrong_with_length, wrong_with_text
from manyhands.worker.loop.worker_loop import WorkerLoop
from manyhands.worker.values.item_answers import ItemAnswer, Trouble

#: Texts tokenised in one call: enough to be cheap, few enough to be shared among threads.
CHUNK = 64
ANSWER_TOKENS = 256


class Preparer(Protocol):
    """Tokenises off the event loop."""

    async def encode(self, description: Description, texts: Sequence[Text], cut: bool) -> list[Encoded]: ...

    async def vocabulary(self, description: Description) -> int: ...

    async def close(self) -> None: ...


class Threads:
    """A `Preparer` on threads. Tokenizers release the GIL while they work, which is enough for most uses."""

    def __init__(self, count: int = 1) -> None:
        self._pool = ThreadPoolExecutor(count, "prepare")
        self._tokenizing: dict[str, Tokenizing] = {}

    async def encode(self, description: Description, texts: Sequence[Text], cut: bool) -> list[Encoded]:
        loop = asyncio.get_running_loop()
        chunks = [texts[begin : begin + CHUNK] for begin in range(0, len(texts), CHUNK)]
        doing = [loop.run_in_executor(self._pool, self._encode, description, chunk, cut) for chunk in chunks]
        return [encoded for chunk in await asyncio.gather(*doing) for encoded in chunk]

    async def vocabulary(self, description: Description) -> int:
        loop = asyncio.get_running_loop()
        return (await loop.run_in_executor(self._pool, self._of, description)).vocabulary

    async def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _encode(self, description: Description, texts: Sequence[Text], cut: bool) -> list[Encoded]:
        return self._of(description).encode(texts, cut)

    def _of(self, description: Description) -> Tokenizing:
        found = self._tokenizing.get(description.tokenizer_file)
        if found is None:  # two threads may both read the file once; the last one is kept
            found = Tokenizing(description.tokenizer_file, description.length_max)
            self._tokenizing[description.tokenizer_file] = found
        return found


class TextRequests:
    """What the HTTP server and other callers ask of the worker."""

    def __init__(self, engine: WorkerLoop, preparer: Preparer, cuts: dict[str, bool] | None = None) -> None:
        self.engine = engine
        self._preparer = preparer
        self._cuts = cuts or {}  # model → whether over-long texts are cut when the caller does not say

    async def answers(
        self, model: str, inputs: Sequence[Any], *, cut: bool | None = None, app: str = "", priority: int = 2
    ) -> list[ItemAnswer | Trouble]:
        """One answer for each input, which is a text, a pair of texts, or tokens."""
        description = self.engine.description(model)
        cut = self._cuts.get(model, False) if cut is None else cut
        told: list[ItemAnswer | Trouble | None] = [None] * len(inputs)
        texts: list[tuple[int, Text]] = []
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
        tokens = [(Tokens(one.ids, one.types), len(one.ids)) for _, one in good]
        for (place, _), answer in zip(good, await self.engine.run(model, tokens, app, priority), strict=True):
            told[place] = answer
        return [answer for answer in told if answer is not None]

    async def chat(self, model: str, chat: Chat, app: str = "", priority: int = 2) -> ItemAnswer | Trouble:
        description = self.engine.description(model)
        wanted = chat.request.get("max_completion_tokens") or chat.request.get("max_tokens") or ANSWER_TOKENS
        # This estimates four characters per token. The model itself reports a prompt that is too long.
        prompt = sum(len(str(message)) for message in chat.request.get("messages", ())) // 4
        length = max(1, min(prompt + int(wanted), description.length_max))
        (answer,) = await self.engine.run(model, [(chat, length)], app, priority)
        return answer
