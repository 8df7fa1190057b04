"""Compares what changes in the worktree of a running attempt with what its task claims, and tells who reads along."""

import asyncio
import os
from contextlib import suppress
from pathlib import Path

from manyhands.core.values.task import Task
from manyhands.errors import ManyhandsError
from manyhands.hosts.executors.attempt_steps import LOG_FILE
from manyhands.hosts.executors.output_text import one_line
from manyhands.hosts.landing.claim_check import is_claimed
from manyhands.hosts.landing.landing_site import LandingSite
from manyhands.hosts.landing.worktree import Worktree
from manyhands.readers.plain_file import open_plain, read_plain

#: Looking costs git a walk through the worktree.
LOOK_EVERY_S = 15.0
_MARKER_BYTES_MAX = 4096
_TOLD_MAX = 50


async def watch_claims(site: LandingSite, worktree: Worktree, task: Task, directory: Path) -> None:
    """Runs until it is cancelled. A task that claims nothing in particular may change anything."""
    if task.claims is None:
        return
    claims = (*task.claims.write, *task.claims.append)
    told: set[str] = set()
    with suppress(ManyhandsError, OSError):  # the check at the landing is the one that counts
        marker = _marker(worktree)
        while len(told) < _TOLD_MAX:
            await asyncio.sleep(LOOK_EVERY_S)
            changed = await site.in_thread(_changed, worktree, marker)
            prefix = worktree.repository.prefix
            new = [path for path in changed if path not in told and not is_claimed(path, claims, prefix)]
            told.update(new)
            _tell(directory / LOG_FILE, new[:_TOLD_MAX])


def _changed(worktree: Worktree, marker: bytes) -> list[str]:
    """What differs from where it started, new files included."""
    if _marker(worktree) != marker:  # the attempt put another repository there, whose settings are its own
        return []
    git = worktree.git
    new = git.names("ls-files", "-z", "--others", "--exclude-standard")
    return [*git.names("diff-index", "--name-only", "--no-renames", "-z", worktree.base, "--"), *new]


def _marker(worktree: Worktree) -> bytes:
    return read_plain(worktree.path / ".git", _MARKER_BYTES_MAX)


def _tell(log: Path, paths: list[str]) -> None:
    lines = "".join(f"! changed {one_line(path)}, which its task does not claim\n" for path in paths)
    if lines:
        with open(open_plain(log, os.O_WRONLY | os.O_APPEND), "ab") as file:
            file.write(lines.encode(errors="replace"))
