"""What becomes of an item: its output, or what is wrong with it. One bad item is no exception, it is a value."""

from typing import Any

from msgspec import Struct

from manyhands.errors import Unavailable, UsageError


class Trouble(Struct, frozen=True):
    """Why one item has no answer."""

    code: (
        str  # for programs: too_long, empty, not_text, bad_token, not_finite, wrong_width, failed, out_of_memory, stuck
    )
    message: str  # for people
    is_callers: bool = False  # the item itself is at fault: another try cannot help


class ItemAnswer(Struct, frozen=True):
    output: Any
    tokens: int = 0


class Busy(Unavailable):
    """The queue is full: come back later."""

    def __init__(self, reason: str, retry_after_s: float) -> None:
        super().__init__(reason, f"try again in {retry_after_s:.0f} s")
        self.retry_after_s = retry_after_s


class TooMuch(UsageError):
    """More than could ever be taken in at once."""


class NoSuchModel(UsageError):
    pass


class WrongTask(UsageError):
    """The model does something else."""


class Stuck(Unavailable):
    """The worker computes nothing at the moment, and says so instead of letting callers wait."""


class Stopping(Unavailable):
    pass
