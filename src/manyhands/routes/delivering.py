"""Carries letters from the outbox to their sinks: in order per key, side by side otherwise, again until they are taken.

It stands beside the dispatcher and reads its book. What a sink does, or does not do, never holds up anything else: a
letter is out of the outbox only when the journal has it so.
"""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

from manyhands.config.routes import RouteConfig
from manyhands.core.book import Book
from manyhands.core.events import AnyEvent, Delivered, DeliveryGivenUp, Input, ResendAsked
from manyhands.core.outbox import REPLY_TO, Delivery
from manyhands.routes.letters import letter_of
from manyhands.routes.opening import open_reply, open_sink
from manyhands.routes.sinks.interface import Sink, SinkError

#: Letters on their way to one sink at once.
AT_ONCE_MAX = 16
WAIT_FIRST_S = 0.2
WAIT_LONGEST_S = 60.0
_ERROR_CHARACTERS_MAX = 300

Submit = Callable[[Input], Awaitable[None]]


class Delivering:
    def __init__(
        self,
        book: Book,
        submit: Submit,
        now: Callable[[], float],
        routes: Mapping[str, RouteConfig],
        workspace: Path,
        environ: Mapping[str, str],
        journal: str,
    ) -> None:
        self._book = book
        self._submit = submit
        self._now = now
        self._routes = routes
        self._environ = environ
        self._journal = journal
        # All of them now: a driver that is missing is named before anything runs, and none is loaded in mid-run.
        self._sinks: dict[tuple[str, str], Sink] = {
            (app, name): open_sink(sink, workspace, environ)
            for app, route in routes.items()
            for name, sink in route.named().items()
        }
        self._places: dict[tuple[str, str], asyncio.Semaphore] = {}
        self._lines: dict[tuple[str, str, str], deque[Delivery]] = {}  # (app, sink, order) → what goes in that order
        self._looked = 0  # letters up to this number have been taken up
        self._carriers: set[asyncio.Task[None]] = set()
        self._idle = asyncio.Event()
        self._idle.set()
        self._look()

    def recorded(self, batch: Sequence[AnyEvent]) -> None:
        """To be called with every batch once it is on disk: only then may anything of it leave."""
        if any(isinstance(event, ResendAsked) for event in batch):
            on_their_way = {delivery.number for line in self._lines.values() for delivery in line}
            for number, delivery in self._book.outbox.waiting.items():
                if number <= self._looked and number not in on_their_way:
                    self._take(delivery)
        self._look()

    def _look(self) -> None:
        """Take up what is new. Costs nothing where nothing is, however much waits."""
        outbox = self._book.outbox
        if self._looked == 0:
            fresh = list(outbox.waiting.values())
        else:
            fresh = [one for n in range(self._looked + 1, outbox.last + 1) if (one := outbox.waiting.get(n))]
        self._looked = outbox.last
        for delivery in fresh:
            self._take(delivery)

    def _take(self, delivery: Delivery) -> None:
        key = (delivery.app, _place(delivery, self._book), delivery.order)
        line = self._lines.get(key)
        if line is not None:
            line.append(delivery)
            return
        self._lines[key] = deque([delivery])
        self._idle.clear()
        carrier = asyncio.create_task(self._carry(key))
        self._carriers.add(carrier)
        carrier.add_done_callback(self._carriers.discard)

    async def _carry(self, key: tuple[str, str, str]) -> None:
        line = self._lines[key]
        places = self._places.setdefault(key[:2], asyncio.Semaphore(AT_ONCE_MAX))
        try:
            while line:
                await self._deliver(line[0], places)
                line.popleft()
        finally:
            del self._lines[key]
            if not self._lines:
                self._idle.set()

    async def _deliver(self, delivery: Delivery, places: asyncio.Semaphore) -> None:
        route = self._routes.get(delivery.app)
        if route is None:
            await self._submit(DeliveryGivenUp(self._now(), delivery.number, "its app has no route any more"))
            return
        wait_s = WAIT_FIRST_S
        tries = 0
        while True:
            tries += 1
            try:
                async with places:
                    await self._send(delivery, route)
            except SinkError as error:
                if error.permanent or tries >= route.tries:
                    text = str(error)[:_ERROR_CHARACTERS_MAX]
                    await self._submit(DeliveryGivenUp(self._now(), delivery.number, text, tries))
                    return
                await asyncio.sleep(max(wait_s, error.retry_after_s))
                wait_s = min(WAIT_LONGEST_S, 2 * wait_s)
            else:
                await self._submit(Delivered(self._now(), delivery.number))
                return

    async def _send(self, delivery: Delivery, route: RouteConfig) -> None:
        record = self._book.runs[delivery.run].records[delivery.task]
        sink = self._sink(delivery, route)
        await sink.send(letter_of(delivery, record, self._journal))

    def _sink(self, delivery: Delivery, route: RouteConfig) -> Sink:
        place = _place(delivery, self._book)
        sink = self._sinks.get((delivery.app, place))
        if sink is None:
            if delivery.sink != REPLY_TO:
                raise SinkError(f"the route has no sink `{delivery.sink}` any more", permanent=True)
            sink = self._sinks[delivery.app, place] = open_reply(place, route, self._environ)
        return sink

    async def close(self, grace_s: float = 10.0) -> int:
        """What is on its way has so long to arrive; how many are left for the next start."""
        deadline = time.monotonic() + grace_s
        while self._lines and (left_s := deadline - time.monotonic()) > 0:
            try:
                await asyncio.wait_for(self._idle.wait(), left_s)
            except TimeoutError:
                break
        for carrier in [*self._carriers]:
            carrier.cancel()
        if self._carriers:
            await asyncio.wait([*self._carriers])
        for sink in self._sinks.values():
            await sink.close()
        return len(self._book.outbox.waiting)


def _place(delivery: Delivery, book: Book) -> str:
    """The sink's name; of a task's own `reply_to`, its URL."""
    if delivery.sink != REPLY_TO:
        return delivery.sink
    return book.runs[delivery.run].records[delivery.task].task.reply_to
