"""The one place where failures of a probe become None: late, missing, broken or impossible answers."""

import asyncio
from abc import ABC, abstractmethod

from manyhands.core.values.widths import Reading
from manyhands.readers.no_answer import NoAnswer

#: Readings are taken about once a second. A reading that arrives later than this is useless.
ANSWER_WITHIN_S = 1.5

COUNTS = ("running", "waiting", "slots", "preemptions", "memory_total_bytes", "memory_used_bytes", "cores")
SHARES = ("kv_use", "utilisation", "pressure", "spilled")


class StillAsking(Exception):
    """The answer may come with a later reading: neither a success nor a failure."""


class GuardedProbe(ABC):
    """A probe whose subclasses only say how to ask. They may be slow and may raise anything."""

    def __init__(self) -> None:
        self.trouble = ""

    @abstractmethod
    async def ask(self, at: float) -> Reading: ...

    async def read(self, at: float) -> Reading | None:
        try:
            async with asyncio.timeout(ANSWER_WITHIN_S):
                reading = await self.ask(at)
        except TimeoutError:
            self.trouble = f"no answer within {ANSWER_WITHIN_S:g} s"
            return None
        except StillAsking:
            return None
        except NoAnswer as error:
            self.trouble = str(error)
            return None
        except Exception as error:
            self.trouble = f"{type(error).__name__}: {error}"
            return None
        self.trouble = flaw_of(reading)
        return None if self.trouble else reading

    async def close(self) -> None:  # noqa: B027 (most probes have nothing to close)
        pass


def flaw_of(reading: Reading) -> str:
    """What makes the reading impossible; "" if it is possible."""
    for name in COUNTS:
        count = getattr(reading, name)
        if count is not None and count < 0:
            return f"impossible answer: {name} is {count}, below 0"
    for name in SHARES:
        share = getattr(reading, name)
        if share is not None and not 0 <= share <= 1:
            return f"impossible answer: {name} is {share:g}, outside 0..1"
    total, used = reading.memory_total_bytes, reading.memory_used_bytes
    if total is not None and used is not None and used > total:
        return f"impossible answer: {used} bytes of memory used of {total}"
    return ""
