"""A result as every sink gets it."""

from typing import Any

import msgspec
from msgspec import Struct

from manyhands.core.outbox import Delivery
from manyhands.core.state import Run
from manyhands.core.values.ending import Ending, EndingKind


class Letter(Struct, frozen=True, omit_defaults=True):
    """`key` is the same however often the result is sent, so a receiver that remembers keys has each result once."""

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
    cost: float | None = None

    def encoded(self) -> bytes:
        return msgspec.json.encode(self)


def letter_of(delivery: Delivery, run: Run, journal: str) -> Letter:
    """The result as it was when it was posted: the task may have been retried since."""
    record = run.records[delivery.task]
    worker = run.records[delivery.step] if delivery.step else record
    tried = worker.history[delivery.attempt - 1] if worker.history and delivery.attempt else None
    ending = tried.ending if tried is not None else None
    if tried is None or ending is None:  # its family failed before its turn came
        ending, host, started_at, ended_at = Ending(EndingKind.FAILED), "", delivery.posted_at, delivery.posted_at
    else:
        host, started_at, ended_at = tried.host, tried.started_at, tried.ended_at or delivery.posted_at
    return Letter(
        f"{journal}-{delivery.number}",
        delivery.app,
        delivery.run,
        delivery.task,
        record.task.kind,
        delivery.state or str(record.state),
        delivery.attempt,
        host,
        started_at,
        ended_at,
        _parsed(ending.result) if ending.result else ending.tail,
        delivery.why or ending.detail,
        ending.tokens_in,
        ending.tokens_out,
        ending.cost,
    )


def _parsed(result: str) -> Any:
    """What a function returned is JSON and stays it; what a model answered is text."""
    try:
        return msgspec.json.decode(result)
    except (ValueError, RecursionError):
        return result
