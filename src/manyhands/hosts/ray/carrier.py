"""The actor on a node: it starts the processes of attempts, reports what happens to them, and outlives its driver.

It keeps its news until the driver asks for later news, so nothing is lost when a driver dies.
"""

import asyncio
import contextlib
import shutil
import tempfile
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

import manyhands
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.host import ProcessHandle
from manyhands.core.values.task import form_of
from manyhands.errors import HostUnreachable
from manyhands.hosts.executors.attempt_steps import LOG_FILE
from manyhands.hosts.executors.executor import Executor
from manyhands.hosts.executors.python_executor import PythonExecutor, PythonSettings
from manyhands.hosts.executors.shell_executor import ShellExecutor, ShellSettings
from manyhands.hosts.executors.worker_executor import WorkerExecutor, WorkerHostSettings
from manyhands.hosts.ray.messages import (
    Begin,
    EndedThere,
    NodeSettings,
    OutputPiece,
    Spawned,
    decode_begin,
    decode_ground,
    encode,
)
from manyhands.hosts.ray.node_lease import Lease
from manyhands.hosts.ray.worker_standing import standing_of
from manyhands.readers.plain_file import open_plain, read_plain

#: How soon output is passed on, and the size of the pieces.
_LOOK_EVERY_S = 0.1
_PIECE_BYTES = 256 * 1024
#: Output stays in its file while this much has not been fetched.
_UNFETCHED_BYTES_MAX = 8 * 1024 * 1024
_FILE_BYTES_MAX = 16 * 1024 * 1024
#: If there is no news, the driver asks again after this long.
_ASK_WITHIN_S = 5.0
#: How many endings to keep for a dispatcher that died before it recorded them.
_ENDINGS_MAX = 256
#: Without attempts and requests for this long, the carrier ends: the dispatcher will not come back.
_FORSAKEN_S = 900.0


class Welcome(NamedTuple):
    token: int
    version: str
    attempts: list[int]  # that it runs, or whose endings it still knows
    node: str = ""


class Superseded(Exception):
    """Another driver has replaced the caller."""


class _Carried(msgspec.Struct):
    executor: Executor
    directory: Path
    sent: int = 0  # bytes of its output that were sent
    held: ProcessHandle | None = None  # the process that waits at its gate
    ending: Ending | None = None


class Carrier:
    def __init__(self, node: str, mark: str, lease_s: float) -> None:
        """`mark` is in the environment of exactly the processes started here. `node` "": Ray chose the node."""
        self._node = node or _node_here()
        self._mark = mark
        self._token = 0
        self._attempts: dict[int, _Carried] = {}
        self._executors: dict[bytes, dict[str, Executor]] = {}
        self._news: list[tuple[int, bytes]] = []
        self._last = 0
        self._unfetched = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._asked_at = time.monotonic()
        self._place = Path(tempfile.mkdtemp(prefix="manyhands-"))
        self._changed: asyncio.Event | None = None
        self._lease = Lease(mark, lease_s, self._node_lives, self._forsaken)

    async def hello(self) -> Welcome:
        """Accept requests only from this caller from now on."""
        self._token += 1
        self._arrived.set()  # the former driver need not wait any longer
        return Welcome(self._token, manyhands.__version__, list(self._attempts), self._node)

    async def prepare(self, token: int, content: bytes) -> str:
        """Start the model worker for these settings; return what went wrong, or ""."""
        self._check(token)
        worker = self._executors_on(decode_ground(content))["prompt"]
        assert isinstance(worker, WorkerExecutor)
        try:
            await worker.process.up()
        except HostUnreachable as error:
            return error.message
        return ""

    async def begin(self, token: int, content: bytes) -> None:
        self._check(token)
        wish: Begin = decode_begin(content)
        attempt = wish.order.attempt
        if attempt in self._attempts:
            return  # a repeated request, after a lost answer
        executor = self._executors_on(wish.ground)[form_of(wish.order.task)]
        directory = self._place / str(attempt)
        carried = self._attempts[attempt] = _Carried(executor, directory)
        executor.start(wish.order, str(directory))
        self._keep(self._pass_output_on(attempt, carried))

    async def release(self, token: int, attempt: int) -> None:
        self._check(token)
        if (carried := self._attempts.get(attempt)) is not None:
            carried.held = None
            carried.executor.release(attempt)

    async def halt(self, token: int, attempt: int) -> None:
        self._check(token)
        if (carried := self._attempts.get(attempt)) is not None:
            carried.executor.stop(attempt)

    async def resume(self, token: int, attempt: int, have_bytes: int) -> bool:
        """Report again everything that the new dispatcher may not know about the attempt."""
        self._check(token)
        carried = self._attempts.get(attempt)
        if carried is None:
            return False
        carried.sent = min(carried.sent, have_bytes)
        if carried.held is not None:
            self._tell(encode(Spawned(attempt, carried.held)))
        if carried.ending is not None:
            self._keep(self._wind_up(attempt, carried, carried.ending))
        return True

    async def standing(self, token: int) -> tuple[tuple[str, ...], float] | None:
        """The models in the memory of the worker here, and the memory that is left; None: there is no worker yet."""
        self._check(token)
        for executors in self._executors.values():
            if isinstance(worker := executors.get("prompt"), WorkerExecutor) and worker.process.pid:
                return await standing_of((await worker.process.up()).url)
        return None

    async def leave(self) -> None:
        """End the carrier: no more requests will come."""
        await asyncio.gather(*(each.close() for executors in self._executors.values() for each in executors.values()))
        await asyncio.to_thread(shutil.rmtree, self._place, True)

    async def news(self, token: int, after: int) -> tuple[int, list[bytes]]:
        """The news since `after`; waits until there is any."""
        self._check(token)
        self._asked_at = time.monotonic()
        self._unfetched -= sum(len(content) for number, content in self._news if number <= after)
        self._news = [(number, content) for number, content in self._news if number > after]
        if not self._news:
            self._arrived.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._arrived.wait(), _ASK_WITHIN_S)
            self._check(token)
        return self._last, [content for _, content in self._news]

    def _executors_on(self, ground: NodeSettings) -> dict[str, Executor]:
        key = encode(ground)
        if key not in self._executors:
            workspace = Path(ground.workspace)
            place: dict[str, Any] = {
                "workspace": workspace,
                "journal": self._mark,
                "grace_s": ground.grace_s,
                "env": ground.env,
                "overloaded": ground.overloaded,
            }
            shell = ShellSettings(**place)
            python = PythonSettings(**place, in_processes=True)
            self._executors[key] = {
                "run": ShellExecutor(shell, self._note_spawned, self._note_ended),
                "call": PythonExecutor(python, self._note_spawned, self._note_ended),
            }
            if ground.worker is not None:
                worker = WorkerHostSettings(
                    workspace=workspace,
                    journal=self._mark,
                    grace_s=ground.grace_s,
                    env=ground.env,
                    config_file=ground.worker.config_file,
                    models=ground.worker.models,
                    model=ground.worker.model,
                )
                self._executors[key]["prompt"] = WorkerExecutor(worker, self._note_spawned, self._note_ended)
        return self._executors[key]

    def _note_spawned(self, attempt: int, process: ProcessHandle) -> None:
        # It does not count as a process of the dispatcher's machine, even if it is on it: only we may kill it.
        process = msgspec.structs.replace(process, boot=f"ray {self._node[:12]}")
        self._attempts[attempt].held = process
        self._tell(encode(Spawned(attempt, process)))

    def _note_ended(self, attempt: int, ending: Ending) -> None:
        if self._lease.has_run_out and ending.kind is not EndingKind.DONE:
            ending = Ending(EndingKind.LOST, "killed on its node, which lost contact with the cluster's head")
        self._keep(self._wind_up(attempt, self._attempts[attempt], ending))

    async def _wind_up(self, attempt: int, carried: _Carried, ending: Ending) -> None:
        await self._pass_rest_on(attempt, carried)
        files = await asyncio.to_thread(_files_in, carried.directory)
        carried.held, carried.ending = None, ending
        self._tell(encode(EndedThere(attempt, ending, files)))
        over = [number for number, one in self._attempts.items() if one.ending is not None]
        for number in over[:-_ENDINGS_MAX]:
            await asyncio.to_thread(shutil.rmtree, self._attempts.pop(number).directory, True)

    async def _pass_output_on(self, attempt: int, carried: _Carried) -> None:
        while carried.ending is None:
            await asyncio.sleep(_LOOK_EVERY_S)
            if self._unfetched < _UNFETCHED_BYTES_MAX and carried.ending is None:
                self._pass_piece_on(attempt, carried)

    async def _pass_rest_on(self, attempt: int, carried: _Carried) -> None:
        while True:
            if self._unfetched >= _UNFETCHED_BYTES_MAX:
                await asyncio.sleep(_LOOK_EVERY_S)
            elif not self._pass_piece_on(attempt, carried):
                return

    def _pass_piece_on(self, attempt: int, carried: _Carried) -> bool:
        try:
            with open(open_plain(carried.directory / LOG_FILE), "rb") as log:
                log.seek(carried.sent)
                content = log.read(_PIECE_BYTES)
        except OSError:
            return False
        if content:
            self._tell(encode(OutputPiece(attempt, carried.sent, content)))
            carried.sent += len(content)
        return bool(content)

    @property
    def _arrived(self) -> asyncio.Event:
        if self._changed is None:
            self._changed = asyncio.Event()
        return self._changed

    def _tell(self, content: bytes) -> None:
        self._last += 1
        self._news.append((self._last, content))
        self._unfetched += len(content)
        self._arrived.set()

    def _keep(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _check(self, token: int) -> None:
        if token != self._token:
            raise Superseded

    def _forsaken(self) -> bool:
        busy = any(carried.ending is None for carried in list(self._attempts.values()))
        return not busy and time.monotonic() - self._asked_at > _FORSAKEN_S

    def _node_lives(self) -> bool | None:
        import ray
        from ray._private.worker import global_worker

        try:
            return bool(global_worker.gcs_client.check_alive([ray.NodeID.from_hex(self._node)], 2.0)[0])
        except Exception:  # whatever Ray raises, it could not be asked
            return None


def _node_here() -> str:
    import ray

    return str(ray.get_runtime_context().get_node_id())


def _files_in(directory: Path) -> dict[str, bytes]:
    """The files that an attempt left beside its output, without those too large to fetch."""
    if not directory.is_dir():
        return {}
    found = {}
    for file in directory.iterdir():
        if file.name != LOG_FILE:
            with contextlib.suppress(OSError):
                found[file.name] = read_plain(file, _FILE_BYTES_MAX)
    return found
