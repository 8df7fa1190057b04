"""Every trial has a directory of its own. Each attempt at a session finds it as it was when the session began."""

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path

from manyhands.concurrency import finish_despite_cancel
from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.hosts.executors.in_flight import STOPPED
from manyhands.hosts.executors.layered_executor import RunInner


def copy_fresh(source: Path, target: Path, leave_out: Path | None = None) -> None:
    """Makes the target a copy of the source. A crash leaves the old target or the new one, never half of it."""

    def left_out(directory: str, names: list[str]) -> list[str]:
        return [name for name in names if Path(directory, name).absolute() == leave_out]

    beside = target.with_name(f"{target.name}.new")
    _remove(beside)
    beside.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, beside, symlinks=True, ignore=left_out if leave_out is not None else None)
    else:
        beside.mkdir()
        if source.exists():
            shutil.copy2(source, beside / source.name)
    _remove(target)
    beside.rename(target)


def _remove(directory: Path) -> None:
    if directory.exists():
        shutil.rmtree(directory)


#: For an attempt that is about to start: (its workspace, what should be in it), or None to leave it as it is.
WorkspaceOrigin = Callable[[StartAttempt], tuple[Path, Path] | None]


class RestoreLayer:
    """Before an executor: a repeated attempt finds nothing of what the interrupted one before it did."""

    def __init__(self, origin: WorkspaceOrigin) -> None:
        self._origin = origin

    def takes(self, order: StartAttempt) -> bool:
        return order.number > 1 and self._origin(order) is not None

    async def carry(self, order: StartAttempt, directory: str, run: RunInner) -> Ending:
        found = self._origin(order)
        assert found is not None
        workspace, origin = found
        copying = asyncio.get_running_loop().run_in_executor(None, copy_fresh, origin, workspace)
        try:
            _, was_stopped = await finish_despite_cancel(copying)
        except OSError as error:  # not the arm's doing, so the attempt does not count
            return Ending(EndingKind.OVERLOADED, f"the workspace cannot be restored: {error}")
        return STOPPED if was_stopped else await run(order)
