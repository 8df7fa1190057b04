"""A result as it leaves: what every sink gets, whatever it is."""

from typing import Any

import msgspec
from msgspec import Struct

from manyhands.core.outbox import Delivery
from manyhands.core.state import Record


class Letter(Struct, frozen=True, omit_defaults=True):
    """`key` is the same however often the result is sent: who keeps the keys has each result once."""

    key: str
    app: str
    run: str
    task: str
    kind: str
    state: str
    attempt: int
    host: str
    started_at: float
    ended_at: float
    result: Any
    detail: str = ""
    tokens_in: int = 0
    tokens_out: int = 0

    def encoded(self) -> bytes:
        return msgspec.json.encode(self)


def letter_of(delivery: Delivery, record: Record, journal: str) -> Letter:
    assert record.history
    tried = record.history[delivery.attempt - 1]
    ending = tried.ending
    assert ending is not None
    assert tried.ended_at is not None
    return Letter(
        f"{journal}-{delivery.number}",
        delivery.app,
        delivery.run,
        delivery.task,
        record.task.kind,
        str(record.state),
        delivery.attempt,
        tried.host,
        tried.started_at,
        tried.ended_at,
        _parsed(ending.result) if ending.result else ending.tail,
        ending.detail,
        ending.tokens_in,
        ending.tokens_out,
    )


def _parsed(result: str) -> Any:
    """What a function returned is JSON and stays it; what a model answered is text."""
    try:
        return msgspec.json.decode(result)
    except msgspec.DecodeError:
        return result
