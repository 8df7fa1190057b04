"""The picture as it changes, for any number of followers. Each frame is made and encoded once and shared by all.

The latest frames are kept. Whoever comes back within them gets what it missed; whoever is slower gets a fresh snapshot,
so nobody's buffer grows with what nobody reads.
"""

import asyncio
import secrets
import time
import zlib
from collections import deque
from collections.abc import Sequence

import msgspec

from manyhands.core.events import AnyEvent
from manyhands.surfaces.api.picture.past import Past
from manyhands.surfaces.api.picture.picture import Picture, concerns
from manyhands.surfaces.api.picture.picture_rows import PictureRow, Redact
from manyhands.surfaces.api.picture.queue_age import QueueAge
from manyhands.surfaces.api.store_follower import StoreFollower
from manyhands.surfaces.api.watched import Watched

#: At most ten frames a second, and half as many for a crowd. While nobody watches, just enough that no work piles up.
FRAME_EVERY_S = 0.1
CROWD = 25
CROWDED_EVERY_S = 0.2
UNWATCHED_EVERY_S = 0.5
#: Making frames takes at most this share of the dispatcher's time, however much happens.
SHARE_MAX = 0.05
#: Frames are kept for followers that come back: this many events, for this long after the last follower left.
EVENTS_KEPT_MIN = 10_000
WATCHED_FOR_S = 60.0
#: A heartbeat between frames: it detects followers that left without closing the connection.
HEARTBEAT_S = 15.0
#: A frame with more changes than this is larger than a snapshot, so everyone gets a snapshot instead.
CHANGES_MAX = 20_000
PACKED_LEVEL = 1
#: A snapshot up to this age, with the frames since, also serves the next follower.
SNAPSHOT_REUSED_S = 2.0

_encode = msgspec.json.Encoder().encode


#: The beginning of a packed stream: a gzip header without a name or a time.
PACKED_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"


def packed(piece: bytes) -> bytes:
    """A tenth of the bytes. Each piece is compressed by itself, so that all streams can share it."""
    packer = zlib.compressobj(PACKED_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packer.compress(piece) + packer.flush(zlib.Z_SYNC_FLUSH)


class Frame:
    __slots__ = ("_bytes", "at", "changes", "events", "id", "seq")

    def __init__(self, id: str, seq: int, at: float, changes: list[PictureRow], events: int) -> None:
        self.id = id
        self.seq = seq
        self.at = at
        self.changes = changes
        self.events = events
        self._bytes: dict[tuple[str | None, bool], bytes] = {}

    def encoded(self, run: str | None, is_packed: bool = False) -> bytes:
        """The frame for followers of one run, or of all runs (None)."""
        found = self._bytes.get((run, is_packed))
        if found is None:
            changes = self.changes if run is None else [row for row in self.changes if concerns(row, run)]
            found = sent("changes", self.id, _encode({"seq": self.seq, "at": self.at, "changes": changes}))
            found = packed(found) if is_packed else found
            self._bytes[run, is_packed] = found
        return found


def sent(event: str, id: str, body: bytes) -> bytes:
    """One server-sent event."""
    return b"event: %b\nid: %b\ndata: %b\n\n" % (event.encode(), id.encode(), body)


class Feed:
    """Listens to a dispatcher from its creation on. It lives in the event loop of the dispatcher."""

    def __init__(self, dispatcher: Watched, redact: Redact = str, age: QueueAge | None = None) -> None:
        self.picture = Picture(dispatcher.book, redact, dispatcher.last, age)
        self.followers = 0
        self.is_closed = False
        self.beats = 0
        self._dispatcher = dispatcher
        self._loop = asyncio.get_running_loop()
        self._name = secrets.token_hex(4)  # so that ids of another dispatcher's frames are not taken for ours
        self._tail: deque[Frame] = deque()
        self._next = 1  # the number of the next frame
        self._events_kept = 0
        self._batch: list[AnyEvent] = []
        self._extra: dict[int, PictureRow] = {}  # attempt → the last line it printed
        self._live: dict[int, PictureRow] = {}  # attempt → what it does
        self._was_alive = dispatcher.is_alive
        self.takes_commands = not isinstance(dispatcher, StoreFollower)
        self._timer: asyncio.TimerHandle | None = None
        self._flushed_at = -1.0
        self._pause_s = 0.0  # how long to wait so that making frames keeps to its share
        self._left_at = -WATCHED_FOR_S  # when the last follower went
        self._was_watched = False
        #: (run, may command, packed) → (made at, its place, itself)
        self._snapshots: dict[tuple[str | None, bool, bool], tuple[float, int, bytes]] = {}
        self._news = asyncio.Event()
        self._heart = self._loop.call_later(HEARTBEAT_S, self._beat)
        dispatcher.recorded.append(self._recorded)

    def close(self) -> None:
        """Ends all streams, once the followers have the last frames."""
        if self.is_closed:
            return
        try:
            self.catch_up()
        finally:
            self.is_closed = True
            self._dispatcher.recorded.remove(self._recorded)
            self._heart.cancel()
            if self._timer is not None:
                self._timer.cancel()
            self.picture.close()
            self.wake()

    def wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    def look_alive(self) -> None:
        """Tell when the dispatcher has gone, or is back."""
        if self._dispatcher.is_alive != self._was_alive:
            self._was_alive = self._dispatcher.is_alive
            self._snapshots = {}
            self._extra[-1] = {"t": "dispatching", "on": self._was_alive}
            self._plan_flush()

    def _beat(self) -> None:
        self.beats += 1
        self._heart = self._loop.call_later(HEARTBEAT_S, self._beat)
        self.wake()

    async def wait_news(self) -> None:
        await self._news.wait()

    def joined(self) -> None:
        self.followers += 1

    def left(self) -> None:
        self.followers -= 1
        self._left_at = self._loop.time()

    @property
    def is_watched(self) -> bool:
        return self.followers > 0 or self._loop.time() < self._left_at + WATCHED_FOR_S

    def tell_output(self, attempt: int, line: str) -> None:
        self._extra[attempt] = {"t": "output", "attempt": attempt, "line": line}
        self._plan_flush()

    def tell_live(self, attempt: int, facts: PictureRow) -> None:
        """What the attempt does just now; of several before the next frame, the last."""
        self._live[attempt] = {"t": "live", "attempt": attempt, **facts}
        self._plan_flush()

    # A place is the number of the frame that a follower gets next.

    def place_after(self, id: str) -> int | None:
        """The place after the frame with that id; None if it is no longer kept, or is not one of ours."""
        name, _, number = id.rpartition("-")
        if name != self._name or not number.isdecimal() or len(number) > 18:
            return None
        place = int(number) + 1
        return place if self._first <= place <= self._next else None

    def frames_from(self, place: int, most: int = 64) -> list[Frame] | None:
        """The frames from that place on; None if they are no longer kept."""
        begin = place - self._first
        if begin < 0:
            return None
        return [self._tail[n] for n in range(begin, min(len(self._tail), begin + most))]

    def snapshot(self, run: str | None, may_command: bool, is_packed: bool = False) -> tuple[int, bytes]:
        """The place of the first frame after it, and the snapshot as it is sent."""
        key = (run, may_command, is_packed)
        made_at, place, piece = self._snapshots.get(key, (-1.0, 0, b""))
        now = self._loop.time()
        if not piece or place < self._first or now > made_at + SNAPSHOT_REUSED_S:
            self._flush()
            place = self._next
            told = {"command": may_command, "dispatching": self._was_alive, "takes_commands": self.takes_commands}
            body = _encode({**told, **self.picture.snapshot(run)})
            piece = sent("snapshot", f"{self._name}-{place - 1}", body)
            piece = packed(piece) if is_packed else piece
            self._snapshots = {old: kept for old, kept in self._snapshots.items() if kept[0] + SNAPSHOT_REUSED_S > now}
            self._snapshots[key] = (now, place, piece)
        return place, piece

    def learn_past(self, past: Past) -> None:
        """Everyone gets a fresh snapshot with it."""
        self.picture.learn_past(past)
        self._snapshots = {}
        self._start_over()
        self.wake()

    def catch_up(self) -> None:
        """Take in everything that was recorded so far."""
        if self._batch:
            self._flush()

    # Frames

    @property
    def _first(self) -> int:
        return self._next - len(self._tail)

    def _recorded(self, batch: Sequence[AnyEvent]) -> None:
        self._batch.extend(batch)
        self._plan_flush()

    def _plan_flush(self) -> None:
        if self._timer is None and not self.is_closed:
            few_s = CROWDED_EVERY_S if self.followers > CROWD else FRAME_EVERY_S
            every_s = few_s if self.is_watched else UNWATCHED_EVERY_S
            wait_s = self._flushed_at + max(every_s, self._pause_s) - self._loop.time()
            self._timer = self._loop.call_later(max(0.0, wait_s), self._flush)

    def _flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        began_s = time.thread_time()
        batch, self._batch = self._batch, []
        rows = (
            self.picture.changes(batch) + self.picture.standing()
        )  # also while nobody watches: a page that opens later shows why hosts were idle
        if self.is_watched:
            rows += [*self._extra.values(), *self._live.values()]
            self._extra, self._live = {}, {}
            if not self._was_watched or len(rows) > CHANGES_MAX:
                self._start_over()
            elif rows or batch:
                self._keep(rows, len(batch))
            self._was_watched = True
        elif self._was_watched:
            self._start_over()
            self._was_watched = False
        self._flushed_at = self._loop.time()
        self._pause_s = (time.thread_time() - began_s) / SHARE_MAX
        self.wake()

    def _start_over(self) -> None:
        """Forget all frames. Followers can only continue with a snapshot."""
        self._tail.clear()
        self._events_kept = 0
        self._next += 1

    def _keep(self, rows: list[PictureRow], events: int) -> None:
        self._tail.append(Frame(f"{self._name}-{self._next}", self.picture.seq, self.picture.book.at, rows, events))
        self._next += 1
        self._events_kept += events
        while self._events_kept - self._tail[0].events >= EVENTS_KEPT_MIN:
            self._events_kept -= self._tail.popleft().events
