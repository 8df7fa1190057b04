"""What the worktrees of one session share: the repository, the queue, threads for git, clearing up at the start."""

import asyncio
import fcntl
import logging
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import ParamSpec, TypeVar

from manyhands.concurrency import finish_despite_cancel
from manyhands.errors import ManyhandsError, StoreBusy
from manyhands.hosts.landing.landing_queue import LandingQueue
from manyhands.hosts.landing.publishing import to_stash
from manyhands.hosts.landing.repository import Repository, find_repository
from manyhands.hosts.landing.run_facts import RunFacts
from manyhands.hosts.landing.worktree import WORKTREES, Worktree, clear_leftovers
from manyhands.sources.config.config_types import LandingConfig

_log = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")

LOCK_FILE = "worktrees.lock"
#: More at once only make the disk seek.
_THREADS = 8
#: How long a git that a dead dispatcher left behind is waited for.
_ORPHANS_S = 120.0


class LandingSite:
    """Made inside the loop it lives in, once everything that a dead dispatcher left running is surely dead."""

    def __init__(self, workspace: Path, store: Path, config: LandingConfig) -> None:
        self.config = config
        self.store = store
        self.queue = LandingQueue(in_order=config.strategy == "sequential")
        self.facts: asyncio.Future[RunFacts] = asyncio.get_running_loop().create_future()
        self._workspace = workspace
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="git")
        self._lock: int | None = None
        self._repository: Repository | None = None
        self._preparing = asyncio.Lock()
        self._clearing: asyncio.Task[None] | None = None
        if (store / WORKTREES).is_dir():
            self._clearing = asyncio.create_task(self._clear())

    async def repository(self) -> Repository:
        """Found when it is first needed, with nothing left in it of attempts that died. Raises if there is none."""
        async with self._preparing:
            if self._repository is None:
                self._repository = await self.aside(self._prepare)
        return self._repository

    async def aside(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """In a thread, to its end: who is cancelled meanwhile hears of it only then."""
        value, was_cancelled = await self.to_the_end(partial(function, *args, **kwargs))
        if was_cancelled:
            raise asyncio.CancelledError
        return value

    async def to_the_end(self, function: Callable[[], T]) -> tuple[T, bool]:
        """Its value, and whether it was asked to stop meanwhile."""
        return await finish_despite_cancel(asyncio.get_running_loop().run_in_executor(self._threads, function))

    def remove(self, worktree: Worktree, keep_branch: bool) -> None:
        """In a thread. An attempt's ending does not depend on whether its files could be deleted."""
        try:
            worktree.remove(keep_branch=keep_branch)
        except (ManyhandsError, OSError) as error:
            _log.warning("%s", error)

    async def close(self) -> None:
        """Once the executors of the session are closed."""
        if self._clearing is not None:
            await asyncio.wait({self._clearing})
        self._threads.shutdown()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    async def _clear(self) -> None:
        try:
            await self.repository()
        except ManyhandsError as error:
            _log.warning("worktrees in %s are left as they are: %s", self.store, error)

    def _prepare(self) -> Repository:
        if self._lock is None:
            self._lock = _lock_alone(self.store)
        repository = find_repository(self._workspace, self.config, held=(self._lock,))
        if to_stash(repository.git):
            _log.warning("changes put aside while something landed are in `git stash` now")
        for branch in clear_leftovers(repository, self.store):
            _log.warning("branch %s has work of an attempt that was lost", branch)
        return repository


def _lock_alone(store: Path) -> int:
    """Every git we start has this lock open: once we get it, none of a dead dispatcher is at work any more."""
    store.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(store / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    deadline = time.monotonic() + _ORPHANS_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return descriptor
        except BlockingIOError:
            if time.monotonic() > deadline:
                os.close(descriptor)
                raise StoreBusy(
                    f"a git started by an earlier manyhands still works in `{store / WORKTREES}`", "wait for it to end"
                ) from None
            time.sleep(0.05)
