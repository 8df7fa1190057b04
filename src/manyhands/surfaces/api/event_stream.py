"""Server-sent events: a snapshot, then frames as they come, until the browser goes or the server stops."""

import asyncio
from contextlib import suppress

from starlette.types import Receive, Scope, Send

from manyhands.surfaces.api.feed import PACKED_HEADER, Feed, packed

HEADERS = (
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
)
PACKED_HEADERS = ((b"content-encoding", b"gzip"), (b"vary", b"accept-encoding"))


class EventStream:
    """The answer to one follower. It is an ASGI application of its own, so that frames go to the socket directly."""

    def __init__(self, feed: Feed, after: str, run: str | None, may_command: bool, is_packed: bool) -> None:
        self._feed = feed
        self._run = run
        self._place = feed.place_after(after) if after else None
        self._may_command = may_command
        self._is_packed = is_packed
        self._is_gone = False
        self._beats = feed.beats

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._feed.joined()
        watching = asyncio.create_task(self._watch(receive))
        try:
            headers = [*HEADERS, *(PACKED_HEADERS if self._is_packed else ())]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            # Send a line at once: proxies and browsers report the stream as open only after one.
            hello = self._line(b"retry: 1000\n\n")
            await self._send(send, PACKED_HEADER + hello if self._is_packed else hello)
            while not self._is_gone and not (self._feed.is_closed and self._has_all):
                await self._send_next(send)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            self._feed.left()
            watching.cancel()

    @property
    def _has_all(self) -> bool:
        return self._place is not None and self._feed.frames_from(self._place) == []

    async def _send_next(self, send: Send) -> None:
        frames = self._feed.frames_from(self._place) if self._place is not None else None
        if frames is None:
            self._place, piece = self._feed.snapshot(self._run, self._may_command, self._is_packed)
            await self._send(send, piece)
        elif frames:
            assert self._place is not None
            self._place += len(frames)
            await self._send(send, b"".join(frame.encoded(self._run, self._is_packed) for frame in frames))
        else:
            await self._feed.wait_news()
            if self._beats != self._feed.beats:
                self._beats = self._feed.beats
                await self._send(send, self._line(b":\n\n"))

    def _line(self, line: bytes) -> bytes:
        return packed(line) if self._is_packed else line

    async def _send(self, send: Send, body: bytes) -> None:
        await send({"type": "http.response.body", "body": body, "more_body": True})

    async def _watch(self, receive: Receive) -> None:
        """A browser that goes away says so here."""
        with suppress(asyncio.CancelledError):
            while (await receive())["type"] != "http.disconnect":
                pass
            self._is_gone = True
            self._feed.wake()
