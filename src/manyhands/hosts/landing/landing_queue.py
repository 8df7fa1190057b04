"""One landing at a time in a repository, whichever attempt, dispatcher or process wants it."""

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

LOCK_FILE = "manyhands-landing.lock"
#: Time between two tries to get a lock that another process holds.
_LOOK_S = 0.05


class LandingQueue:
    """First come, first served. With `in_order`, the task with the earlier place of those at work lands first."""

    def __init__(self, in_order: bool) -> None:
        self._in_order = in_order
        self._turn = asyncio.Lock()
        self._at_work: dict[int, int] = {}  # attempt → the place of its task
        self._left = asyncio.Event()

    def enter(self, attempt: int, place: int) -> None:
        """Note that the attempt is at work and may want to land."""
        self._at_work[attempt] = place

    def leave(self, attempt: int) -> None:
        """Note that the attempt has landed, or will not land."""
        self._at_work.pop(attempt, None)
        self._left.set()

    @asynccontextmanager
    async def turn(self, attempt: int, directory: Path) -> AsyncIterator[int]:
        """Wait for the turn. Yields the lock's descriptor: while any process has it open, no other attempt lands."""
        await self._until_first(attempt)
        async with self._turn:
            descriptor = os.open(directory / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                while not _locked(descriptor):  # noqa: ASYNC110  no event comes from another process
                    await asyncio.sleep(_LOOK_S)
                yield descriptor
            finally:
                os.close(descriptor)

    async def _until_first(self, attempt: int) -> None:
        place = self._at_work[attempt]
        while self._in_order and any(other < place for other in self._at_work.values()):
            self._left.clear()
            await self._left.wait()


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
