"""Every trial has a directory of its own, and every attempt at a session finds it as the session should begin."""

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path

from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.hosts.executors.executor import Adopts, Ended, Executor

_STOPPED = Ending(EndingKind.CANCELLED, "stopped before it began")


def copy_fresh(source: Path, target: Path, leave_out: Path | None = None) -> None:
    """The target is as the source, whatever was there, and never half of it."""

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


#: Told of an attempt that is about to start: (where it works, what should be there), or None to leave all as it is.
Origin = Callable[[StartAttempt], tuple[Path, Path] | None]


class RestoringExecutor:
    """Before the real one: an attempt after one that was cut short finds nothing of what that one did."""

    def __init__(self, inner: Executor, ended: Ended, origin: Origin) -> None:
        self._inner = inner
        self._ended = ended
        self._origin = origin
        self._restoring: dict[int, asyncio.Task[None]] = {}
        self._stopped: set[int] = set()

    def start(self, order: StartAttempt, directory: str) -> None:
        found = self._origin(order) if order.number > 1 else None
        if found is None:
            self._inner.start(order, directory)
            return
        workspace, origin = found
        task = asyncio.create_task(self._restore(order, directory, workspace, origin))
        self._restoring[order.attempt] = task
        task.add_done_callback(lambda _: self._restoring.pop(order.attempt, None))

    async def _restore(self, order: StartAttempt, directory: str, workspace: Path, origin: Path) -> None:
        try:
            await asyncio.to_thread(copy_fresh, origin, workspace)
        except OSError as error:
            detail = f"the workspace cannot be made anew: {error}"
            self._ended(order.attempt, Ending(EndingKind.OVERLOADED, detail))  # not the arm's doing
            return
        if order.attempt in self._stopped:
            self._stopped.discard(order.attempt)
            self._ended(order.attempt, _STOPPED)
        else:
            self._inner.start(order, directory)

    def adopt(self, attempt: int, directory: str) -> bool:
        return isinstance(self._inner, Adopts) and self._inner.adopt(attempt, directory)

    def release(self, attempt: int) -> None:
        self._inner.release(attempt)

    def stop(self, attempt: int) -> None:
        if attempt in self._restoring:
            self._stopped.add(attempt)
        else:
            self._inner.stop(attempt)

    async def close(self) -> None:
        self._stopped.update(self._restoring)
        while self._restoring:
            await asyncio.wait(list(self._restoring.values()))
        await self._inner.close()
