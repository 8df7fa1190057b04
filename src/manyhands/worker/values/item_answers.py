"""The result of an item: its output, or what is wrong with it. A bad item is a value, not an exception."""

from typing import Any

from msgspec import Struct

from manyhands.errors import Unavailable, UsageError


class Trouble(Struct, frozen=True):
    """Why one item has no answer."""

    code: (
        str  # for programs: too_long, empty, not_text, bad_token, not_finite, wrong_width, failed, out_of_memory, stuck
    )
    message: str  # for people
    is_callers: bool = False  # the item itself is at fault, so another try cannot help


class ItemAnswer(Struct, frozen=True):
    output: Any
    tokens: int = 0


class Busy(Unavailable):
    """The queue is full. The caller should try again later."""

    def __init__(self, reason: str, retry_after_s: float) -> None:
        super().__init__(reason, f"try again in {retry_after_s:.0f} s")
        self.retry_after_s = retry_after_s


class TooMuch(UsageError):
    """The request is larger than the worker can ever accept."""


class NoSuchModel(UsageError):
    pass


class WrongTask(UsageError):
    """The model does not do the requested task."""


class Stuck(Unavailable):
    """The worker computes nothing at the moment. It says so instead of letting callers wait."""


class Stopping(Unavailable):
    pass
