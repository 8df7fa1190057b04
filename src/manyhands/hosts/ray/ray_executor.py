"""Runs attempts on a Ray cluster for a dispatcher. Their output and files come back into their directories."""

import asyncio
import logging
import os
import re
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.task import Task, form_of
from manyhands.hosts.executors.attempt_steps import LOG_FILE
from manyhands.hosts.executors.executor import Ended, ProcessSpawned
from manyhands.hosts.executors.in_flight import CLOSED
from manyhands.hosts.ray import messages
from manyhands.hosts.ray.driver_link import DriverLink
from manyhands.hosts.ray.node_placement import NODE_LABEL, in_words_of_ray, labels_of, resources_of
from manyhands.readers.plain_file import open_plain, write_plain

_log = logging.getLogger(__name__)

#: How long a clean stop waits for attempts beyond their grace. The next dispatcher finds those that are left.
_CLOSED_WITHIN_S = 30.0
_LABEL = re.compile(r"node:\s*[^\s=]+\s*=\s*\S.*")


class RaySettings(Struct, frozen=True, kw_only=True):
    """What a ray host is built from."""

    journal: str
    host: str = ""
    workspace: str  # a path on the nodes
    grace_s: float = 1.0
    env: dict[str, str] = {}
    nodes: dict[str, str] = {}  # label selectors of the nodes that belong to this host
    place_within_s: float = 600.0
    overloaded: str = ""
    worker: messages.ModelWorker | None = None  # for tasks with a prompt alone
    each: dict[str, float] | None = None  # what each worker reserves; None: nobody has a say in how many there are


class RayExecutor:
    def __init__(self, settings: RaySettings, link: DriverLink, spawned: ProcessSpawned, ended: Ended) -> None:
        self._settings = settings
        self._link = link
        self._ground = messages.NodeSettings(
            settings.journal,
            settings.workspace,
            settings.grace_s,
            settings.env,
            settings.worker,
            settings.overloaded,
        )
        self._spawned = spawned
        self._ended = ended
        self._directories: dict[int, Path] = {}  # of attempts in flight
        self._changed = asyncio.Event()
        self._closed = False
        self.workers = messages.WorkersAre(settings.host)
        link.join()
        if settings.each is not None:
            self.keep_workers(0)  # whatever a dead dispatcher had

    def start(self, order: StartAttempt, directory: str) -> None:
        settings, path = self._settings, Path(directory)
        refusal = CLOSED if self._closed else _misfit(order, settings.worker is not None) or _cannot_make(path)
        if refusal is not None:
            asyncio.get_running_loop().call_soon(self._ended, order.attempt, refusal)
            return
        self._directories[order.attempt] = path
        labels = {**settings.nodes, **labels_of(order.task)}
        model = _model_for(order.task, settings.worker)
        fleet = settings.host if model and settings.each is not None else ""
        place = messages.AttemptPlace(resources_of(order.task), labels, settings.place_within_s, model, fleet)
        self._link.begin(messages.Begin(order, self._ground, place), self._hear, lambda: _size(path))

    def keep_workers(self, count: int) -> None:
        """Ask for this many model workers from now on. `workers` has those that exist."""
        settings = self._settings
        assert settings.each is not None
        each = in_words_of_ray(settings.each)
        wish = messages.KeepWorkers(settings.host, count, self._ground, each, settings.nodes)
        self._link.keep_workers(wish, self._note_workers)

    def adopt(self, attempt: int, directory: str) -> bool:
        """Take over an attempt of a dispatcher that died. Its ending follows in every case."""
        self._directories[attempt] = path = Path(directory)
        self._link.adopt(attempt, self._hear, lambda: _size(path))
        return True

    def release(self, attempt: int) -> None:
        if attempt in self._directories:
            self._link.send(messages.ReleaseThere(attempt))

    def stop(self, attempt: int) -> None:
        if attempt in self._directories:
            self._link.send(messages.Halt(attempt))

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        for attempt in list(self._directories):
            self.stop(attempt)
        try:
            async with asyncio.timeout(self._settings.grace_s + _CLOSED_WITHIN_S):
                while self._directories:
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            pass
        await self._link.leave()

    def _note_workers(self, report: messages.WorkersAre) -> None:
        self.workers = report

    def _hear(self, report: messages.Report) -> None:
        match report:
            case messages.Waits(attempt, why):
                # A new node may take long to start, but a person who misspelt a label wants to know now.
                _log.warning("host `%s`, attempt %s: %s", self._settings.host, self._directories[attempt].name, why)
            case messages.Spawned(attempt, process):
                self._spawned(attempt, process)
            case messages.OutputPiece(attempt, offset, content):
                _write_at(self._directories[attempt], offset, content)
            case messages.EndedThere(attempt, ending, files):
                directory = self._directories.pop(attempt)
                self._changed.set()
                self._ended(attempt, _with_files(ending, directory, files))


def _model_for(task: Task, worker: messages.ModelWorker | None) -> str:
    if worker is None or form_of(task) != "prompt":
        return ""
    return str((task.args or {}).get("model") or worker.model or worker.models[0])


def _misfit(order: StartAttempt, has_models: bool) -> Ending | None:
    task = order.task
    if form_of(task) == "prompt" and not has_models:
        why = "has no `run` and no `call`, but"
    elif task.workspace:
        why = "asks for a worktree, which is on the dispatcher's machine, but"
    elif bad := [label for label in task.labels if label.startswith(NODE_LABEL) and not _LABEL.fullmatch(label)]:
        detail = f"task `{task.id}` has label `{bad[0]}`, which is not a node label; write `node:NAME=VALUE`"
        return Ending(EndingKind.FAILED, detail, permanent=True)
    else:
        return None
    detail = f"task `{task.id}` {why} host `{order.host}` is a Ray cluster; send the task to another host"
    return Ending(EndingKind.FAILED, detail, permanent=True)


def _cannot_make(directory: Path) -> Ending | None:
    """Fail before the attempt runs, not when its output arrives."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        return Ending(EndingKind.FAILED, f"the directory of the attempt cannot be created: {error}")
    return None


def _size(directory: Path) -> int:
    try:
        return directory.joinpath(LOG_FILE).stat().st_size
    except OSError:
        return 0


def _write_at(directory: Path, offset: int, content: bytes) -> None:
    """Write at this offset, so that a repetition changes nothing. A full disk must not end the attempt."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        file = open_plain(directory / LOG_FILE, os.O_WRONLY | os.O_CREAT)
        try:
            os.pwrite(file, content, offset)
        finally:
            os.close(file)
    except OSError:
        return


def _with_files(ending: Ending, directory: Path, files: dict[str, bytes]) -> Ending:
    try:
        for name, content in files.items():
            directory.mkdir(parents=True, exist_ok=True)
            write_plain(directory / Path(name).name, content)
    except OSError as error:
        return replace(ending, kind=EndingKind.FAILED, detail=f"the files of the attempt cannot be written: {error}")
    return ending
