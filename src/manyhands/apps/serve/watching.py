"""Tells when watched files change: by file-system events, with a slow look at all of them as the fallback."""

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from manyhands.apps.serve.live_backlog import BacklogLog

#: Events are gathered until none comes for this long, because an editor writes a file in several steps.
QUIET_MS = 25
#: The longest they are gathered, however busy the file is.
GATHER_MS = 100
POLL_S = 30.0
#: The pause after a directory could not be watched.
AGAIN_S = 5.0

Changed = Callable[[], None]


async def watch(changed_of: Mapping[Path, Changed], log: BacklogLog, poll_s: float = POLL_S) -> None:
    """Runs until it is cancelled. `changed_of`: file → what to call. A call too many is better than one too few."""
    told = ""
    while True:
        try:
            await _watch_once(changed_of, poll_s)
        except (OSError, RuntimeError) as error:
            if str(error) != told:
                told = str(error)
                log("watch", f"files cannot be watched and are checked every {AGAIN_S:g} s: {error}")
            await asyncio.sleep(AGAIN_S)
        _tell(changed_of.values())


async def _watch_once(changed_of: Mapping[Path, Changed], poll_s: float) -> None:
    """Returns when a directory was replaced, so that the watch no longer sees it."""
    from watchfiles import awatch

    whole = {file: changed for file, changed in changed_of.items() if file.is_dir()}  # anything in it counts
    directories = list(dict.fromkeys(file if file in whole else file.parent for file in changed_of))
    inodes = _inodes(directories)
    events = awatch(
        *directories,
        watch_filter=None,
        debounce=GATHER_MS,
        step=QUIET_MS,
        rust_timeout=round(poll_s * 1000),
        yield_on_timeout=True,
        recursive=False,
    )
    async for changes in events:
        names = {name for _, name in changes}
        if not changes or names & {str(directory) for directory in directories}:
            _tell(changed_of.values())
            if _inodes(directories) != inodes:
                return
        else:
            _tell(changed for file, changed in changed_of.items() if str(file) in names)
            inside = {os.path.dirname(name) for name in names}
            _tell(changed for directory, changed in whole.items() if str(directory) in inside)


def _inodes(directories: Iterable[Path]) -> list[int]:
    return [os.stat(directory).st_ino for directory in directories]


def _tell(all_changed: Iterable[Changed]) -> None:
    for changed in dict.fromkeys(all_changed):
        changed()
