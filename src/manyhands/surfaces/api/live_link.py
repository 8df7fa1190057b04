"""The dispatcher in whose loop the API lives, as agents that come by themselves reach it."""

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeVar

from manyhands.core.book import Book
from manyhands.core.events import AnyEvent, Input
from manyhands.surfaces.api.watched import Watched

LiveValue = TypeVar("LiveValue")


class LiveLink:
    def __init__(self, dispatcher: Watched) -> None:
        self._dispatcher = dispatcher

    @property
    def book(self) -> Book:
        return self._dispatcher.book

    @property
    def now(self) -> float:
        return self._dispatcher.clock.now()

    async def submit(self, *events: Input) -> None:
        await self._dispatcher.submit(*events)

    async def until(self, find: Callable[[], LiveValue | None], seconds: float) -> LiveValue | None:
        """Looks again after every batch that is on disk."""
        written = asyncio.Event()

        def note(batch: Sequence[AnyEvent]) -> None:
            written.set()

        self._dispatcher.recorded.append(note)
        try:
            async with asyncio.timeout(seconds):
                while (found := find()) is None:
                    await written.wait()
                    written.clear()
                return found
        except TimeoutError:
            return find()
        finally:
            self._dispatcher.recorded.remove(note)
