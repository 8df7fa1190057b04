"""What the worktrees of one session share: the repository, the queue, threads for git, the cleanup at the start."""

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
from manyhands.sources.config.landing_config import LandingConfig
from manyhands.store_directory import make_store_directory

_log = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")

LOCK_FILE = "worktrees.lock"
#: More threads would only make the disk seek.
_THREADS = 8
#: How long to wait for a git process that a dead dispatcher left behind.
_ORPHANS_S = 120.0


class LandingSite:
    """Make it inside its event loop, once everything that a dead dispatcher left running is certainly dead."""

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
        """The repository, found when it is first needed and cleared of dead attempts. Raises if there is none."""
        async with self._preparing:
            if self._repository is None:
                self._repository = await self.in_thread(self._prepare)
        return self._repository

    async def in_thread(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run the function in a thread, to its end. A cancellation meanwhile is raised only after that."""
        value, was_cancelled = await self.to_the_end(partial(function, *args, **kwargs))
        if was_cancelled:
            raise asyncio.CancelledError
        return value

    async def to_the_end(self, function: Callable[[], T]) -> tuple[T, bool]:
        """The function's value, and whether a stop was requested meanwhile."""
        return await finish_despite_cancel(asyncio.get_running_loop().run_in_executor(self._threads, function))

    def remove(self, worktree: Worktree, keep_branch: bool) -> None:
        """Remove it, in a thread. An attempt's ending does not depend on whether its files could be deleted."""
        try:
            worktree.remove(keep_branch=keep_branch)
        except (ManyhandsError, OSError) as error:
            _log.warning("%s", error)

    async def close(self) -> None:
        """Close the site. Call this after the executors of the session are closed."""
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
            _log.warning("cannot clear old worktrees in %s: %s", self.store, error)

    def _prepare(self) -> Repository:
        if self._lock is None:
            self._lock = _lock_alone(self.store)
        repository = find_repository(self._workspace, self.config, held=(self._lock,))
        if to_stash(repository.git):
            _log.warning("uncommitted changes that were stashed during a landing are now in `git stash`")
        for branch in clear_leftovers(repository, self.store):
            _log.warning("branch %s has the work of an attempt that was lost", branch)
        return repository


def _lock_alone(store: Path) -> int:
    """Every git we start holds this lock. Once we get it, no git of a dead dispatcher is still running."""
    make_store_directory(store)
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
                    f"a git process of an earlier manyhands still runs in `{store / WORKTREES}`", "wait for it to end"
                ) from None
            time.sleep(0.05)
