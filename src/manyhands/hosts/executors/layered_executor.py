"""A layer around an executor: it does something before an attempt runs there, after it, or both.

Every layer goes through this one class, so that a stop is heard whatever the attempt is doing: while the layer
prepares it, while the inner executor runs it, and while the layer finishes it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Protocol

from msgspec.structs import replace

from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.hosts.executors.executor import Adopts, Answers, Ended, Executor, TakesWork
from manyhands.hosts.executors.in_flight import STOPPED, AttemptWork, InFlight

#: A layer that must finish a step may ignore a stop. It is asked again after this long.
INSIST_S = 1.0

#: Makes the inner executor, which reports endings to the callback given here.
MakeInner = Callable[[Ended], Executor]
#: Runs the attempt on the inner executor until it ends there. A layer may change the order, and may run it again.
RunInner = Callable[[StartAttempt], Awaitable[Ending]]


class Layer(Protocol):
    def takes(self, order: StartAttempt) -> bool:
        """Whether this attempt goes through the layer. All others go straight to the inner executor."""

    def carry(self, order: StartAttempt, directory: str, run: RunInner) -> AttemptWork:
        """Carry the attempt from start to ending. A stop outside `run` raises CancelledError here."""


class LayeredExecutor:
    def __init__(self, make_inner: MakeInner, ended: Ended, layer: Layer) -> None:
        self._ended = ended
        self._layer = layer
        self._in_flight = InFlight(self._end, INSIST_S)
        self._stopped: set[int] = set()
        self._running: dict[int, asyncio.Future[Ending]] = {}  # attempts the inner executor runs for the layer
        self._inner = make_inner(self._inner_ended)

    def start(self, order: StartAttempt, directory: str) -> None:
        if self._layer.takes(order):
            work = self._layer.carry(order, directory, partial(self._run, directory))
            self._in_flight.start(order.attempt, work)
        else:
            self._inner.start(order, directory)

    def adopt(self, attempt: int, directory: str) -> bool:
        """An adopted attempt no longer needs the layer: it was started before."""
        return isinstance(self._inner, Adopts) and self._inner.adopt(attempt, directory)

    def hand_in(self, attempt: int, ending: Ending) -> None:
        if isinstance(self._inner, TakesWork):
            self._inner.hand_in(attempt, ending)

    def release(self, attempt: int) -> None:
        self._inner.release(attempt)

    def stop(self, attempt: int) -> None:
        if attempt in self._in_flight:
            self._stopped.add(attempt)
            self._in_flight.stop(attempt)
        if attempt in self._running or attempt not in self._in_flight:
            self._inner.stop(attempt)

    def answer(self, attempt: int, words: str) -> None:
        if isinstance(self._inner, Answers):
            self._inner.answer(attempt, words)

    async def close(self) -> None:
        await self._in_flight.close()
        await self._inner.close()

    async def _run(self, directory: str, order: StartAttempt) -> Ending:
        """Run it on the inner executor. A stop goes there too: it reports when nothing of the attempt is alive."""
        attempt = order.attempt
        if attempt in self._stopped:
            return STOPPED
        ended = self._running[attempt] = asyncio.get_running_loop().create_future()
        self._inner.start(order, directory)
        while not ended.done():
            try:
                await asyncio.shield(ended)
            except asyncio.CancelledError:
                if attempt not in self._stopped:
                    self._stopped.add(attempt)
                    self._inner.stop(attempt)
        ending: Ending = ended.result()
        if attempt in self._stopped and ending.kind is EndingKind.DONE:
            return replace(ending, kind=EndingKind.CANCELLED, detail="stopped just as it finished")
        return ending

    def _inner_ended(self, attempt: int, ending: Ending) -> None:
        running = self._running.pop(attempt, None)
        if running is None:
            self._ended(attempt, ending)
        else:
            running.set_result(ending)

    def _end(self, attempt: int, ending: Ending) -> None:
        self._stopped.discard(attempt)
        self._ended(attempt, ending)
