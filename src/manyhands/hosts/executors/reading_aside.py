"""Reads the reports of an attempt beside the event loop."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from manyhands.core.values.ending import Ending


async def read_aside(read: Callable[[], Ending]) -> Ending:
    """Read beside the loop, because a disk may be slow. A stop that arrives meanwhile does not cost the ending."""
    reading = asyncio.ensure_future(asyncio.to_thread(read))
    while not reading.done():
        with suppress(asyncio.CancelledError):
            await asyncio.shield(reading)
    return reading.result()
