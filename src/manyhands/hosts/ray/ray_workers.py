"""Model workers on the nodes of a cluster, one for each GPU. Attempts are assigned by model and free memory."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from manyhands.hosts.ray.carrying import Carrying, Gone
from manyhands.hosts.ray.messages import AttemptPlace
from manyhands.hosts.ray.node_placement import RayNode, WorkerSeat, route, seats
from manyhands.hosts.ray.standings import Standings

_LOOK_AGAIN_S = 0.2


class RayWorkers:
    def __init__(
        self, nodes: Callable[[], list[RayNode]], carrier_at: Callable[[WorkerSeat], Awaitable[Carrying]]
    ) -> None:
        self._nodes = nodes
        self._carrier_at = carrier_at
        self._standings: Standings[WorkerSeat] = Standings()
        self._coming: dict[WorkerSeat, int] = {}  # attempts on their way to a seat

    async def place(self, place: AttemptPlace, note_lack: Callable[[], None]) -> Carrying:
        """The carrier of a worker for the model. Raises `Gone` if there is none in time; so may `note_lack`."""
        give_up_at = time.monotonic() + place.within_s
        while (seat := route(place.model, self._standings.of(self._seats(place), self._coming))) is None:
            note_lack()
            await asyncio.sleep(_LOOK_AGAIN_S)
        self._coming[seat] = self._coming.get(seat, 0) + 1
        self._standings.promise(seat, place.model)
        try:
            async with asyncio.timeout_at(asyncio.get_running_loop().time() + give_up_at - time.monotonic()):
                carrying = self._standings.at[seat] = await self._carrier_at(seat)
            return carrying
        except TimeoutError:
            raise Gone(f"node {seat.node[:12]} had no room for a model worker") from None
        finally:
            self._coming[seat] -= 1

    def _seats(self, place: AttemptPlace) -> list[WorkerSeat]:
        return seats(self._nodes(), place.labels)
