"""The model workers of a host with `scaling`: starts them, gives them attempts, and ends those that are too many.

A worker with an attempt in flight is never removed: it gets no new attempts and ends after its last one.
"""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable

from manyhands.hosts.ray.carrying import Carrying, Gone
from manyhands.hosts.ray.messages import AttemptPlace, WorkersAre
from manyhands.hosts.ray.node_placement import route
from manyhands.hosts.ray.standings import Standings

#: Workers share the work: two more attempts in flight at one are enough reason to load a model at another.
_WORTH_A_LOAD = 1
#: Each worker gets at most this many while another is starting, because that one cannot take over their attempts.
_GIVEN_MEANWHILE = 8
#: Wait after a worker that could not be started.
_AGAIN_AFTER_S = 10.0
#: A worker that has found no node for this long is reported.
_PLACED_WITHIN_S = 30.0
_LOOK_AGAIN_S = 0.5


class Fleet:
    def __init__(
        self,
        host: str,
        asks: str,
        hire: Callable[[int], Awaitable[Carrying]],
        prepare: Callable[[Carrying], Awaitable[str]],
        tell: Callable[[WorkersAre], None],
    ) -> None:
        """`hire` finds a node for the worker of that number. `prepare` starts it there and returns what went wrong."""
        self._host = host
        self._asks = asks
        self._hire = hire
        self._prepare = prepare
        self._tell = tell
        self._wanted = 0
        self._up: Standings[int] = Standings()
        self._bringing: dict[int, asyncio.Task[None]] = {}
        self._leaving: set[int] = set()  # workers that run but get no more attempts
        self._going: set[asyncio.Task[None]] = set()
        self._last_number = 0
        self._trouble = ""
        self._took_s: float | None = None
        self._not_before = float("-inf")
        self._changed = asyncio.Event()
        self._told: WorkersAre | None = None

    def find(self, number: int, carrying: Carrying) -> None:
        """Add a worker that an earlier driver left."""
        self._up.at[number] = carrying
        self._last_number = max(self._last_number, number)

    def want(self, count: int) -> None:
        self._wanted = count
        if not count:
            self._trouble = ""
        self.adjust()

    def note_gone(self, carrying: Carrying) -> None:
        """Note that a carrier of the cluster has died. It may belong to this fleet."""
        for number, one in list(self._up.at.items()):
            if one is carrying:
                self._up.forget(number)
        self.adjust()

    def adjust(self) -> None:
        """Start or end workers towards the wanted number, as far as possible now."""
        self._leaving.intersection_update(self._up.at)
        missing = self._wanted - (len(self._up.at) - len(self._leaving)) - len(self._bringing)
        for number in sorted(self._leaving)[: max(0, missing)]:
            self._leaving.discard(number)
            missing -= 1
        if time.monotonic() >= self._not_before:
            for _ in range(missing):
                self._last_number += 1
                self._bringing[self._last_number] = asyncio.ensure_future(self._bring(self._last_number))
        for number in sorted(self._bringing, reverse=True)[: max(0, -missing)]:
            unwanted = self._bringing.pop(number)
            unwanted.cancel()
            self._keep(unwanted)
            missing += 1
        staying = sorted(self._staying(), key=lambda number: (len(self._up.at[number].attempts), -number))
        self._leaving.update(staying[: max(0, -missing)])
        for number in sorted(self._leaving):
            if not self._up.at[number].attempts:
                self._let_go(number)
        self._report()

    async def place(self, place: AttemptPlace) -> Carrying:
        """The carrier of a worker for the model. Raises `Gone` if there is none in time."""
        give_up_at = time.monotonic() + place.within_s
        while True:
            is_late = time.monotonic() >= give_up_at
            number = self._next_for(place.model, is_late)
            if number is not None:
                self._up.promise(number, place.model)
                return self._up.at[number]
            if self._trouble and self._wanted and not self._bringing and not self._up.at:
                raise Gone(self._trouble)
            if is_late:
                raise Gone(self._trouble or f"host `{self._host}` had no model worker for {place.within_s:g} s")
            self._changed.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), _LOOK_AGAIN_S)

    async def leave(self) -> None:
        """Stop starting workers. Those that run are removed with all other carriers."""
        bringing = list(self._bringing.values())
        for task in bringing:
            task.cancel()
        await asyncio.gather(*bringing, *self._going, return_exceptions=True)

    def _staying(self) -> list[int]:
        return [number for number in self._up.at if number not in self._leaving]

    def _next_for(self, model: str, is_late: bool) -> int | None:
        standing = self._up.of(self._staying(), {})
        number = route(model, standing, _WORTH_A_LOAD)
        if number is not None and self._bringing and standing[number].in_flight >= _GIVEN_MEANWHILE and not is_late:
            return None
        return number

    async def _bring(self, number: int) -> None:
        began_at, carrying, trouble = time.monotonic(), None, ""
        loop = asyncio.get_running_loop()
        waits = loop.call_later(_PLACED_WITHIN_S, self._note, f"no node has room for a model worker yet ({self._asks})")
        try:
            carrying = await self._hire(number)
            waits.cancel()
            trouble = await self._prepare(carrying)
        except Gone as gone:
            trouble = str(gone)
        except asyncio.CancelledError:
            if carrying is not None:
                self._dismiss(carrying)
            raise
        finally:
            waits.cancel()
            self._bringing.pop(number, None)
        if carrying is not None and not trouble:
            self._up.at[number] = carrying
            self._took_s = time.monotonic() - began_at
        else:
            if carrying is not None:
                self._dismiss(carrying)
            self._not_before = time.monotonic() + _AGAIN_AFTER_S
            loop.call_later(_AGAIN_AFTER_S + _LOOK_AGAIN_S, self.adjust)
        self._note(trouble)
        self.adjust()

    def _let_go(self, number: int) -> None:
        self._dismiss(self._up.at[number])
        self._up.forget(number)
        self._leaving.discard(number)

    def _dismiss(self, carrying: Carrying) -> None:
        self._keep(asyncio.ensure_future(carrying.take_away()))

    def _keep(self, going: asyncio.Task[None]) -> None:
        self._going.add(going)
        going.add_done_callback(self._going.discard)

    def _note(self, trouble: str) -> None:
        self._trouble = trouble
        self._report()

    def _report(self) -> None:
        self._changed.set()
        there = WorkersAre(
            self._host, len(self._up.at), len(self._leaving), len(self._bringing), self._trouble, self._took_s
        )
        if there != self._told:
            self._told = there
            self._tell(there)
