"""Turns stored rows into numbered events, and names the row that is damaged. Every durable store uses it."""

from collections.abc import Callable, Iterable, Iterator

from manyhands.core.events import AnyEvent
from manyhands.engine.store.contract import codec
from manyhands.engine.store.contract.journal import UnreadableRequest
from manyhands.errors import StoreBroken

SALVAGE = "restore it from a copy, or save what can be read with `manyhands store repair --to DIR`"
SNAPSHOT_PART_BYTES = 4 << 20

StoredRow = tuple[int, int, bytes]  # the number of the last event, checksum, body


def damaged(where: object, row: str, what: str) -> StoreBroken:
    return StoreBroken(f"the journal `{where}` is damaged at {row}: {what}", SALVAGE)


def rows_of(
    events: Iterable[AnyEvent], last: int, checksum: Callable[[bytes, int], int] = codec.checksum
) -> Iterator[StoredRow]:
    """The events as the rows to store after event `last`."""
    for row in codec.cut(events):
        body = codec.encode(row)
        last += len(row)
        yield last, checksum(body, last), body


def events_of(
    fetch: Callable[[int, int], list[StoredRow]],
    after: int,
    last: int,
    where: object,
    is_sound: Callable[[bytes, int, int], bool] = codec.is_sound,
) -> Iterator[tuple[int, AnyEvent]]:
    """The events from `after` to `last`; `fetch(done, last)` gives the next few rows."""
    done = after
    while done < last:
        rows = fetch(done, last)
        if not rows:
            raise damaged(where, f"event {done + 1}", f"events up to {last} are missing")
        for seq, crc, body in rows:
            if not is_sound(body, crc, seq):
                raise damaged(where, f"row {seq} (events {done + 1} to {seq})", codec.MISMATCH)
            for event in _events_after(done, seq, body, where):
                done += 1
                yield done, event


def _events_after(done: int, seq: int, body: bytes, where: object) -> list[AnyEvent]:
    row = f"row {seq} (events {done + 1} to {seq})"
    try:
        events = codec.decode_sound(body)
    except codec.Damaged as error:
        raise damaged(where, row, str(error)) from error
    if seq <= done:
        raise damaged(where, f"row {seq}", f"it follows event {done}")
    if len(events) < seq - done:
        raise damaged(where, row, f"events {done + 1} to {seq - len(events)} are missing before it")
    return events[done - seq :]


def snapshot_parts(seq: int, data: bytes) -> Iterator[tuple[int, int, int, int, bytes]]:
    parts = max(1, -(-len(data) // SNAPSHOT_PART_BYTES))
    for part in range(parts):
        body = data[part * SNAPSHOT_PART_BYTES : (part + 1) * SNAPSHOT_PART_BYTES]
        yield seq, part, parts, codec.checksum(body, seq), body


def snapshot_of(seq: int, rows: list[tuple[int, int, bytes]]) -> bytes | None:
    """The snapshot from its parts, checksum and body. None if it is damaged: the events alone are enough."""
    if not rows or any(parts != len(rows) or not codec.is_sound(body, crc, seq) for parts, crc, body in rows):
        return None
    return b"".join(body for _, _, body in rows)


def requests_of(rows: list[StoredRow], where: object) -> list[tuple[int, AnyEvent | UnreadableRequest]]:
    found: list[tuple[int, AnyEvent | UnreadableRequest]] = []
    for number, crc, body in rows:
        try:
            [event] = codec.decode(body, crc, 0)
            found.append((number, event))
        except (codec.Damaged, ValueError) as error:
            if not codec.is_sound(body, crc, 0):
                raise damaged(where, f"request {number}", str(error)) from error
            found.append((number, UnreadableRequest(f"it cannot be read: {error}")))  # another program wrote it
    return found
