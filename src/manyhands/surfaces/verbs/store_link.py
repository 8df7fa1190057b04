"""A dispatcher as another process reaches it: requests in the store, and a book that follows the journal."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import closing
from typing import TypeVar

from manyhands.core.book import Book
from manyhands.core.events import Input
from manyhands.core.scheduler import Scheduler
from manyhands.engine.recovery import rebuild
from manyhands.engine.store.store_opening import exists, open_reader, open_requests
from manyhands.errors import Unavailable
from manyhands.surfaces.verbs.store_view import View

StoredValue = TypeVar("StoredValue")

#: How often it looks for what the dispatcher has written.
LOOK_EVERY_S = 0.02
#: A dispatcher that is alive answers a request long before this.
ANSWER_WITHIN_S = 30.0


class StoreLink:
    def __init__(self, view: View) -> None:
        self._view = view
        _check_dispatcher(view)
        self._reader = open_reader(view.place)
        self._scheduler = Scheduler()
        self._seq = rebuild(self._reader, self._scheduler)

    @property
    def book(self) -> Book:
        return self._scheduler.book

    @property
    def now(self) -> float:
        return self._view.now

    async def submit(self, *events: Input) -> None:
        _check_dispatcher(self._view)
        asking = open_requests(self._view.place, self._view.config.store.durability)
        try:
            left = {asking.ask(event) for event in events}
        finally:
            asking.close()

        def answered() -> bool | None:
            return not left & {number for number, _ in self._reader.requests()} or None

        if not await self._poll(answered, ANSWER_WITHIN_S):
            raise Unavailable(
                "the dispatcher did not answer in time", "try again: what it has heard of is on disk and will be done"
            )
        self._look()

    async def until(self, find: Callable[[], StoredValue | None], seconds: float) -> StoredValue | None:
        def look() -> StoredValue | None:
            self._look()
            return find()

        return await self._poll(look, seconds)

    async def _poll(self, find: Callable[[], StoredValue | None], seconds: float) -> StoredValue | None:
        loop = asyncio.get_running_loop()
        give_up_at = loop.time() + seconds
        # Another process writes, so nothing here could set an event.
        while (found := find()) is None and loop.time() < give_up_at:  # noqa: ASYNC110
            await asyncio.sleep(LOOK_EVERY_S)
        return found

    def _look(self) -> None:
        if found := list(self._reader.read(self._seq)):
            self._scheduler.replay(event for _, event in found)
            self._seq = found[-1][0]

    def close(self) -> None:
        self._reader.close()


def linked(view: View, work: Callable[[StoreLink], Awaitable[StoredValue]]) -> StoredValue:
    """Do this in a loop of its own: for commands, and for tools that are called in a thread."""

    async def wait() -> StoredValue:
        with closing(StoreLink(view)) as link:
            return await work(link)

    return asyncio.run(wait())


def _check_dispatcher(view: View) -> None:
    """Nobody could give a task out or take one back."""
    if not exists(view.place) or not view.is_dispatching:
        raise Unavailable("no dispatcher is running, so there is nobody to hand out tasks", "start `manyhands serve`")
