"""Encodes events as bytes and decodes them, with a checksum, so that damage is found and not decoded.

The format is MessagePack. On batches of 200 events an append costs 1.2–1.4 × as much with JSON, and JSON cannot
hold NaN or infinity.
"""

import zlib
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from manyhands.core.events import AnyEvent, TasksSubmitted
from manyhands.engine.store.contract.old_journals import brought_up_to_date
from manyhands.errors import UsageError

#: Events (or tasks inside them) per row. Long appends are cut so that no row needs much memory to write or read.
ROW_WEIGHT_MAX = 1000

MISMATCH = "the checksum does not match"

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(list[AnyEvent])


class Damaged(Exception):
    """The bytes are not what was written."""


def encode(events: Sequence[AnyEvent]) -> bytes:
    try:
        return _encoder.encode(events)
    except (TypeError, ValueError, OverflowError) as error:
        raise UsageError(
            f"an event holds a value that cannot be journalled: {error}",
            "text must be valid Unicode, whole numbers must fit in 64 bits, and arguments must be plain values",
        ) from error


def decode(body: bytes, crc: int, number: int) -> list[AnyEvent]:
    if not is_sound(body, crc, number):
        raise Damaged(MISMATCH)
    return decode_sound(body)


def decode_sound(body: bytes) -> list[AnyEvent]:
    """The events of a row whose checksum was compared."""
    try:
        return [brought_up_to_date(event) for event in _decoder.decode(body)]
    except RecursionError as error:
        raise Damaged("it is nested too deeply") from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise Damaged(str(error)) from error


def is_sound(body: object, crc: object, number: object) -> bool:
    """Damage may have changed even the types of a row's columns."""
    return isinstance(body, bytes) and isinstance(number, int) and checksum(body, number) == crc


def checksum(body: bytes, number: int) -> int:
    """The checksum includes the row's number, because sound bytes in the wrong row are damage too."""
    return zlib.crc32(body, number & 0xFFFFFFFF)


def cut(events: Iterable[AnyEvent]) -> Iterator[list[AnyEvent]]:
    """Yields the events as the rows that hold them, one row at a time."""
    row: list[AnyEvent] = []
    weight = 0
    for event in events:
        row.append(event)
        weight += len(event.tasks) if type(event) is TasksSubmitted else 1
        if weight >= ROW_WEIGHT_MAX:
            yield row
            row, weight = [], 0
    if row:
        yield row
