"""Model workers on the nodes of a cluster, one for each GPU: found, and given attempts by model and free memory."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from manyhands.executors.ray.carrying import Carrying, Gone
from manyhands.executors.ray.messages import Place
from manyhands.executors.ray.placement import Node, Seat, Standing, route, seats

#: A model is loaded in seconds and held for minutes.
_LOOK_EVERY_S = 2.0
_LOOK_AGAIN_S = 0.2


class Workers:
    def __init__(self, nodes: Callable[[], list[Node]], carrier_at: Callable[[Seat], Awaitable[Carrying]]) -> None:
        self._nodes = nodes
        self._carrier_at = carrier_at
        self._at: dict[Seat, Carrying] = {}
        self._coming: dict[Seat, int] = {}  # attempts on their way to a seat
        self._told: dict[Seat, tuple[tuple[str, ...], float]] = {}
        self._promised: dict[Seat, set[str]] = {}  # models that attempts were sent for since the worker last told
        self._looked_at = float("-inf")
        self._looking: asyncio.Task[None] | None = None

    async def place(self, place: Place) -> Carrying:
        """The carrier of a worker for the model. Raises `Gone` if there is none in time."""
        give_up_at = time.monotonic() + place.within_s
        self._look()
        while (seat := route(place.model, self._standing(place.labels))) is None:
            if time.monotonic() >= give_up_at:
                raise Gone("the Ray cluster has no node for a model worker")
            await asyncio.sleep(_LOOK_AGAIN_S)
        self._coming[seat] = self._coming.get(seat, 0) + 1
        self._promised.setdefault(seat, set()).add(place.model)
        try:
            async with asyncio.timeout_at(asyncio.get_running_loop().time() + give_up_at - time.monotonic()):
                self._at[seat] = await self._carrier_at(seat)
            return self._at[seat]
        except TimeoutError:
            raise Gone(f"node {seat.node[:12]} had no room for a model worker") from None
        finally:
            self._coming[seat] -= 1

    def _standing(self, labels: dict[str, str]) -> dict[Seat, Standing]:
        found = {}
        for seat in seats(self._nodes(), labels):
            carrying = self._at.get(seat)
            in_flight = self._coming.get(seat, 0) + (len(carrying.attempts) if carrying is not None else 0)
            models, room = self._told.get(seat, ((), float("inf")))
            found[seat] = Standing(in_flight, (*models, *self._promised.get(seat, ())), room)
        return found

    def _look(self) -> None:
        """Beside what is being placed: an answer that is late makes nobody wait."""
        if time.monotonic() - self._looked_at > _LOOK_EVERY_S and (self._looking is None or self._looking.done()):
            self._looked_at = time.monotonic()
            self._looking = asyncio.ensure_future(self._ask_all())

    async def _ask_all(self) -> None:
        for seat, carrying in list(self._at.items()):
            try:
                told = await carrying.ask("standing")
            except Gone:
                for known in (self._at, self._told, self._promised):
                    known.pop(seat, None)
                continue
            if told is not None:
                self._told[seat] = told
                if not carrying.attempts:
                    self._promised.pop(seat, None)
