"""A store as a page sees it without a dispatcher of its own: the book is rebuilt, and follows what others write."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress

from manyhands.core.events import AnyEvent, Input
from manyhands.core.scheduler import Scheduler
from manyhands.engine.clock import Clock
from manyhands.engine.recovery import rebuild
from manyhands.engine.store.store_opening import Where, is_dispatching, open_reader
from manyhands.errors import Conflict

#: How often it looks for new events.
LOOK_EVERY_S = 0.5


class StoreFollower:
    commit_s = 0.0  # it writes nothing

    def __init__(self, where: Where) -> None:
        self._where = where
        self._reader = open_reader(where)
        self._scheduler = Scheduler()
        self.last = rebuild(self._reader, self._scheduler)
        self.book = self._scheduler.book
        self.clock = Clock(self.book.at)
        self.recorded: list[Callable[[Sequence[AnyEvent]], None]] = []
        self.is_alive = is_dispatching(where)

    async def submit(self, *events: Input) -> None:
        raise Conflict("this page only reads the store", "the page of `manyhands serve` takes commands")

    def look(self) -> None:
        """Take in what was written since the last look."""
        self.is_alive = is_dispatching(self._where)
        found = list(self._reader.read(self.last))
        if found:
            events = [event for _, event in found]
            self._scheduler.replay(events)
            self.last = found[-1][0]
            for tell in self.recorded:
                tell(events)

    def close(self) -> None:
        self._reader.close()


@asynccontextmanager
async def following(where: Where) -> AsyncIterator[StoreFollower]:
    follower = StoreFollower(where)

    async def look_on() -> None:
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            follower.look()

    looking = asyncio.create_task(look_on())
    try:
        yield follower
    finally:
        looking.cancel()
        with suppress(asyncio.CancelledError):
            await looking
        follower.close()
