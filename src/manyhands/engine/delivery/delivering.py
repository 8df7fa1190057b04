"""Sends letters from the outbox to their sinks, again and again until they are taken.

Letters with the same order go one after another, all others side by side. This works beside the dispatcher and reads
its book; a sink never holds up anything else. A letter leaves the outbox only when the journal says so.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from urllib.parse import urlsplit

from manyhands.core.book import Book
from manyhands.core.events import AnyEvent, Delivered, DeliveryGivenUp, Input, ResendAsked
from manyhands.core.outbox import REPLY_TO, Delivery
from manyhands.engine.delivery.sink_opening import OpenSinks
from manyhands.engine.delivery.sink_queue import SinkQueue
from manyhands.engine.delivery.sinks.letters import letter_of
from manyhands.engine.delivery.sinks.sink import Sink, SinkError
from manyhands.engine.delivery.sinks.webhook_sink import Posting
from manyhands.errors import ManyhandsError
from manyhands.sources.config.route_config import RouteConfig

_ERROR_CHARACTERS_MAX = 300
#: A sink that does not close within this time is abandoned.
_CLOSE_S = 5.0

Submit = Callable[[Input], Awaitable[None]]


class Delivering:
    def __init__(
        self,
        book: Book,
        submit: Submit,
        now: Callable[[], float],
        routes: Mapping[str, RouteConfig],
        sinks: OpenSinks,
        journal: str,
        redact: Callable[[str], str] = str,
    ) -> None:
        self._book = book
        self._submit = submit
        self._now = now
        self._routes = routes
        self._journal = journal
        self._redact = redact
        self._sinks: Mapping[tuple[str, str], Sink] = sinks.sinks
        self._replies: Mapping[str, Posting] = sinks.replies
        self._loop = asyncio.get_running_loop()
        self._queues: dict[tuple[str, str], SinkQueue] = {}  # of each app and sink; of replies, each server
        self._alarms: dict[tuple[str, str], asyncio.TimerHandle] = {}
        self._on_their_way: set[int] = set()  # letters in a queue or with a carrier
        self._looked = 0  # letters up to this number have been taken up
        self._carriers: dict[asyncio.Task[None], None] = {}  # in the order they left
        self._moved = asyncio.Event()
        self._take(self._book.outbox.waiting.values())
        self._looked = self._book.outbox.last

    def recorded(self, batch: Sequence[AnyEvent]) -> None:
        """Called with every batch once it is on disk: only then may its results leave."""
        outbox = self._book.outbox
        if any(isinstance(event, ResendAsked) for event in batch):
            self._take(outbox.waiting.values())
        else:  # costs nothing if nothing is new, however many letters wait
            self._take(one for n in range(self._looked + 1, outbox.last + 1) if (one := outbox.waiting.get(n)))
        self._looked = outbox.last

    def _take(self, deliveries: Iterable[Delivery]) -> None:
        fresh = [one for one in deliveries if one.number not in self._on_their_way]
        keys = [(one.app, self._place(one)) for one in fresh]
        for key, delivery in sorted(zip(keys, fresh, strict=True), key=lambda pair: pair[1].number):
            self._on_their_way.add(delivery.number)
            self._queues.setdefault(key, SinkQueue()).add(delivery)
        for key in dict.fromkeys(keys):
            self._serve(key)

    def _place(self, delivery: Delivery) -> str:
        """The sink's name; of a task's own `reply_to`, its server: one that hangs holds up no other."""
        if delivery.sink != REPLY_TO:
            return delivery.sink
        url = urlsplit(self._reply_to(delivery))
        return f"{url.scheme}://{url.netloc}"

    def _reply_to(self, delivery: Delivery) -> str:
        return self._book.runs[delivery.run].records[delivery.task].task.reply_to

    def _serve(self, key: tuple[str, str]) -> None:
        """Send what may go now, and come back when more may go."""
        queue = self._queues[key]
        while (delivery := queue.take(self._loop.time())) is not None:
            carrier = asyncio.create_task(self._carry(key, delivery))
            self._carriers[carrier] = None
            carrier.add_done_callback(self._carriers.pop)
        if (alarm := self._alarms.pop(key, None)) is not None:
            alarm.cancel()
        if (at := queue.next_at()) is not None:
            self._alarms[key] = self._loop.call_at(at, self._serve, key)

    async def _carry(self, key: tuple[str, str], delivery: Delivery) -> None:
        queue, number = self._queues[key], delivery.number
        error = await self._sent(delivery)
        tries = queue.refused(delivery) if error is not None else 0
        if error is not None and not error.permanent and tries < self._routes[delivery.app].tries:
            queue.again(delivery, self._loop.time(), error.retry_after_s)
        else:
            try:
                await self._submit(self._outcome(number, error, tries))
            except ManyhandsError:
                return  # the dispatcher has died of it and says so; the letter stays in the outbox for the next one
            queue.settled(delivery, answered=error is None or error.permanent)
            self._on_their_way.discard(number)
            if (
                resent := self._book.outbox.waiting.get(number)
            ) is not None:  # a resend was asked for in the same batch
                self._take([resent])
        self._serve(key)
        self._moved.set()

    def _outcome(self, number: int, error: SinkError | None, tries: int) -> Input:
        if error is None:
            return Delivered(self._now(), number)
        return DeliveryGivenUp(self._now(), number, self._redact(str(error))[:_ERROR_CHARACTERS_MAX], tries)

    async def _sent(self, delivery: Delivery) -> SinkError | None:
        try:
            letter = letter_of(delivery, self._book.runs[delivery.run], self._journal)
            if delivery.app not in self._routes:
                raise SinkError("its app no longer has a route", permanent=True)
            if delivery.sink == REPLY_TO and delivery.app in self._replies:
                await self._replies[delivery.app].post(self._reply_to(delivery), letter)
            elif (sink := self._sinks.get((delivery.app, delivery.sink))) is not None:
                await sink.send(letter)
            else:
                raise SinkError(f"the route no longer has a sink `{delivery.sink}`", permanent=True)
        except SinkError as error:
            return error
        except Exception as error:  # an undocumented error of a driver costs this letter a try, and not the whole queue
            return SinkError(f"{type(error).__name__}: {error}".removesuffix(": "))
        return None

    async def close(self, grace_s: float = 10.0) -> int:
        """Give letters on their way this long to arrive; returns how many are left for the next start."""
        deadline = self._loop.time() + grace_s
        while self._on_their_way and (left_s := deadline - self._loop.time()) > 0:
            soonest = min((at for one in self._queues.values() if (at := one.next_at()) is not None), default=math.inf)
            if not self._carriers and soonest > deadline:
                break  # the letters that are left would only be tried after the deadline
            self._moved.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._moved.wait(), left_s)
        for alarm in self._alarms.values():
            alarm.cancel()
        for carrier in [*self._carriers]:
            carrier.cancel()
        if self._carriers:
            await asyncio.wait([*self._carriers], timeout=_CLOSE_S)
        closing = [asyncio.create_task(sink.close()) for sink in self._sinks.values()]
        closing += [asyncio.create_task(posting.close()) for posting in self._replies.values()]
        if closing:
            await asyncio.wait(closing, timeout=_CLOSE_S)
        return len(self._book.outbox.waiting)
