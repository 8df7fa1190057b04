"""A Redis stream read in a consumer group: what is taken stays pending until it is acknowledged.

The lease is the idle time that Redis counts for each pending entry. Renewing it claims the entry again for ourselves.
"""

import json
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from manyhands.errors import Unavailable
from manyhands.sources.queues.work_queue import RENEWALS, QueueDown, QueueEntry, Settlement

T = TypeVar("T")

_ANSWER_S = 10.0
_PAGE = 1_000


class RedisStream:
    def __init__(self, url: str, stream: str, group: str, lease_s: float, password: str = "") -> None:
        try:
            import redis
            import redis.exceptions
        except ImportError:
            raise Unavailable("a redis backlog needs the `redis` package", "pip install 'manyhands[routes]'") from None
        self.name = stream
        self.where = f"{url}#{stream}/{group}"
        self._errors = (redis.exceptions.RedisError, OSError)
        self._exists = redis.exceptions.ResponseError
        self._redis: Any = redis.Redis.from_url(
            url, password=password or None, socket_timeout=_ANSWER_S, socket_connect_timeout=_ANSWER_S, protocol=2
        )
        self._stream = stream
        self._group = group
        self._lease_ms = round(lease_s * 1000)
        self._held: dict[str, QueueEntry] | None = None  # None: Redis must be asked
        self._renewed_at = 0.0

    def hold(self, holder: str, room: int) -> Sequence[QueueEntry]:
        def ask() -> Sequence[QueueEntry]:
            held = self._held
            is_due = time.monotonic() - self._renewed_at > self._lease_ms / 1000 / RENEWALS
            if held is None:
                self._make_group()
                held = {entry.id: entry for entry in self._own(holder)}
            if self._held is None or is_due:
                ours = self._renew(holder, self._pending(holder))
                held = {id: entry for id, entry in held.items() if id in ours}
                held |= {entry.id: entry for entry in self._left_by_others(holder, room)}
                self._renewed_at = time.monotonic()
            left = room - max(0, len(held) - len(self._held or ()))
            if left > 0:
                answer = self._redis.xreadgroup(self._group, holder, {self._stream: ">"}, count=left)
                held |= {entry.id: entry for _, rows in answer for entry in _entries(rows)}
            self._held = held
            return list(held.values())

        return self._asked(ask)

    def renew(self, holder: str, entries: Iterable[str]) -> set[str]:
        wanted = list(entries)
        return self._asked(lambda: self._renew(holder, [id for id in wanted if self._is_held_by(holder, id)]))

    def settle(self, holder: str, settlements: Sequence[Settlement]) -> set[str]:
        def ask() -> set[str]:
            ours = {one.entry for one in settlements if self._is_held_by(holder, one.entry)}
            if ours:
                self._redis.xack(self._stream, self._group, *ours)
            self._forget(one.entry for one in settlements)
            return ours

        return self._asked(ask)

    def refuse(self, holder: str, entry: str, why: str) -> None:
        def ask() -> None:
            content = self._held[entry].content if self._held and entry in self._held else {}
            with self._redis.pipeline(transaction=True) as both:
                both.xadd(f"{self._stream}:refused", {"entry": entry, "why": why, "content": json.dumps(content)})
                both.xack(self._stream, self._group, entry)
                both.execute()
            self._forget([entry])

        self._asked(ask)

    def give_back(self, holder: str, entries: Iterable[str]) -> None:
        def ask() -> None:
            ours = [id for id in entries if self._is_held_by(holder, id)]
            if ours:  # a stream has no way to put an entry back; as idle as this, anyone may claim it
                self._redis.xclaim(self._stream, self._group, holder, 0, ours, idle=self._lease_ms, justid=True)

        self._asked(ask)

    def close(self) -> None:
        self._redis.close()

    def _asked(self, ask: Callable[[], T]) -> T:
        try:
            return ask()
        except self._errors as error:
            self._held = None
            raise QueueDown(f"Redis stream `{self._stream}`: {error}", "it is asked again in a few seconds") from None

    def _make_group(self) -> None:
        try:
            self._redis.xgroup_create(self._stream, self._group, id="0", mkstream=True)
        except self._exists as error:
            if "BUSYGROUP" not in str(error):
                raise

    def _own(self, holder: str) -> Iterable[QueueEntry]:
        """What the holder took before, also in an earlier life."""
        after = "0"
        while rows := self._redis.xreadgroup(self._group, holder, {self._stream: after}, count=_PAGE)[0][1]:
            gone = [row[0] for row in rows if not row[1]]  # trimmed away: there is nothing left to work on
            if gone:
                self._redis.xack(self._stream, self._group, *gone)
            yield from _entries(row for row in rows if row[1])
            after = rows[-1][0]

    def _left_by_others(self, holder: str, room: int) -> Iterable[QueueEntry]:
        if room <= 0:
            return []
        answer = self._redis.xautoclaim(self._stream, self._group, holder, self._lease_ms, start_id="0-0", count=room)
        return _entries(row for row in answer[1] if row[1])

    def _pending(self, holder: str) -> list[str]:
        found: list[str] = []
        after = "-"
        while rows := self._redis.xpending_range(self._stream, self._group, after, "+", _PAGE, consumername=holder):
            found += [_text(row["message_id"]) for row in rows]
            after = f"({found[-1]}"
        return found

    def _renew(self, holder: str, entries: Sequence[str]) -> set[str]:
        if entries:
            self._redis.xclaim(self._stream, self._group, holder, 0, list(entries), justid=True)
        return set(entries)

    def _is_held_by(self, holder: str, entry: str) -> bool:
        rows = self._redis.xpending_range(self._stream, self._group, entry, entry, 1, consumername=holder)
        return bool(rows)

    def _forget(self, entries: Iterable[str]) -> None:
        for entry in entries:
            if self._held is not None:
                self._held.pop(entry, None)


def _entries(rows: Iterable[Any]) -> Iterable[QueueEntry]:
    return [QueueEntry(_text(id), {_text(name): _text(value) for name, value in fields.items()}) for id, fields in rows]


def _text(value: bytes) -> str:
    return value.decode(errors="replace")
