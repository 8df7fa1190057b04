"""Saves what an attempt leaves, after its check has passed and before its ending is told.

So an ending that is on disk says only what is on disk too. After a crash in between the task runs again, and
saves again.
"""

import asyncio
import hashlib
from functools import partial
from pathlib import Path

import msgspec
from msgspec.structs import replace

from manyhands.concurrency import finish_despite_cancel
from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import Artefact, Ending, EndingKind
from manyhands.core.values.task import WORKTREE, Task
from manyhands.hosts.artefacts.kept_files import CannotKeep, keep_files
from manyhands.hosts.artefacts.workspace_files import replace_file
from manyhands.hosts.executors.function import RESULT_FILE
from manyhands.hosts.executors.layered_executor import RunInner
from manyhands.hosts.executors.output_text import ANSWER_BYTES_MAX, ANSWER_FILE
from manyhands.readers.plain_file import read_plain

#: A long answer is in one of these files, which the attempt itself may have written.
_ANSWERS = (ANSWER_FILE, RESULT_FILE)


class ArtefactLayer:
    """Around the executor of a host. In a worktree, files must be saved before they land: see `WorktreeLayer`."""

    def __init__(self, workspace: Path, store: Path) -> None:
        self._workspace = workspace
        self._store = store

    def takes(self, order: StartAttempt) -> bool:
        return bool(order.task.save or order.task.keep) and order.task.workspace != WORKTREE

    async def carry(self, order: StartAttempt, directory: str, run: RunInner) -> Ending:
        return await with_artefacts(await run(order), order.task, self._workspace, Path(directory), self._store)


async def with_artefacts(ending: Ending, task: Task, root: Path, directory: Path, store: Path) -> Ending:
    """The same ending with what was saved below `root`; a failed one if that could not be done."""
    if ending.kind is not EndingKind.DONE or not (task.save or task.keep):
        return ending
    work = partial(_save, ending, task, root, directory, store)
    saved, was_stopped = await finish_despite_cancel(asyncio.ensure_future(asyncio.to_thread(work)))
    return replace(saved, kind=EndingKind.CANCELLED, detail="stopped just as it finished") if was_stopped else saved


def _save(ending: Ending, task: Task, root: Path, directory: Path, store: Path) -> Ending:
    left: list[Artefact] = []
    try:
        if task.save:
            if store.is_relative_to(root) and (root / task.save).is_relative_to(store):
                raise CannotKeep(f"`{task.save}` is inside the store; save it elsewhere")
            answer = _answer(ending, task, directory)
            if not answer.strip():
                raise CannotKeep("it gave no answer that could be saved")
            replace_file(root, task.save, [answer])
            left.append(Artefact(task.save, len(answer), hashlib.sha256(answer).hexdigest()))
        left += keep_files(root, task.keep, directory, store)
    except CannotKeep as error:
        return replace(ending, kind=EndingKind.FAILED, detail=str(error), failed_check=True)
    except OSError as error:
        detail = f"what it made cannot be saved to `{task.save or error.filename}`: {error.strerror}"
        return replace(ending, kind=EndingKind.FAILED, detail=detail)
    return replace(ending, artefacts=tuple(left))


def _answer(ending: Ending, task: Task, directory: Path) -> bytes:
    """The whole answer. Text that a function returned is saved as text, any other value as JSON."""
    for name in _ANSWERS:
        try:
            content = read_plain(directory / name, ANSWER_BYTES_MAX)
        except FileNotFoundError:
            continue
        return _as_text(content) if task.call else content
    said = ending.result.encode(errors="replace")
    return _as_text(said) if task.call else said


def _as_text(content: bytes) -> bytes:
    try:
        value = msgspec.json.decode(content)
    except (ValueError, RecursionError):
        return content
    return value.encode(errors="replace") if isinstance(value, str) else content
