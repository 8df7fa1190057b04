"""Each executor with tasks of the same behaviours in its own terms, for the contract suite."""

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from hosts.executors import functions
from hosts.executors.desk import Desk
from hosts.executors.model_server import ModelServer, Reply, says
from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import DONE, Ending, EndingKind
from manyhands.core.values.task import PROGRAM, Task
from manyhands.hosts.executors.attempt_steps import ProcessSettings
from manyhands.hosts.executors.executor import Ended, Executor, ProcessSpawned
from manyhands.hosts.executors.layered_executor import LayeredExecutor, RunInner
from manyhands.hosts.executors.openai_executor import OpenAIExecutor, OpenAISettings
from manyhands.hosts.executors.program_executor import ProgramExecutor, ProgramWork
from manyhands.hosts.executors.pull_executor import PullExecutor
from manyhands.hosts.executors.python_executor import PythonExecutor, PythonSettings
from manyhands.hosts.executors.shell_executor import ShellExecutor, ShellSettings

GRACE_S = 0.5
_BARE = ("shell", "python-async", "python-sync", "program", "openai", "pull")
#: Each bare, and each inside a layer that has something to do before and after.
EXECUTORS = (*_BARE, *(f"layered-{name}" for name in _BARE))
WITH_PROCESSES = ("shell", "python-sync", "layered-shell", "layered-python-sync")


class PausingLayer:
    """Gives way to the loop before and after each attempt: what a layer does is awaited."""

    def takes(self, order: StartAttempt) -> bool:
        return True

    async def carry(self, order: StartAttempt, directory: str, run: RunInner) -> Ending:
        await asyncio.sleep(0)
        ending = await run(order)
        await asyncio.sleep(0)
        return ending


@dataclass
class Stage:
    name: str
    desk: Desk
    workspace: Path
    tasks: Callable[..., Task]
    close: Callable[[], Any]
    running: Callable[[], int]  # how many hanging tasks got under way, counted where they run
    many: int = 200  # attempts at once it is asked to bear

    def works(self, **fields: Any) -> Task:
        return self.tasks("works", self.flags, **fields)

    def fails(self, **fields: Any) -> Task:
        return self.tasks("fails", self.flags, **fields)

    def hangs(self, **fields: Any) -> Task:
        return self.tasks("hangs", self.flags, **fields)

    def misfit(self) -> Task:
        if self.name.endswith("pull"):
            return Task("misfit", call="asyncio:sleep")
        return Task("misfit", run=() if self.name.endswith("shell") else ("true",))

    @property
    def flags(self) -> Path:
        """Where each task that hangs makes a file, once it does."""
        return self.workspace / "flags"


async def raise_stage(name: str, tmp_path: Path) -> Stage:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    flags = workspace / "flags"
    flags.mkdir()

    def count() -> int:
        return len(list(flags.iterdir()))

    journal = f"test-{secrets.token_hex(8)}"  # other suites may run on this machine
    place = {"workspace": workspace, "journal": journal, "grace_s": GRACE_S}
    bare = name.removeprefix("layered-")

    def desk_of(make: Callable[[ProcessSpawned, Ended], Executor]) -> Desk:
        def layered(spawned: ProcessSpawned, ended: Ended) -> Executor:
            return LayeredExecutor(partial(make, spawned), ended, PausingLayer())

        return Desk(make if bare == name else layered, tmp_path / "attempts", journal)

    if bare == "shell":
        desk = desk_of(lambda s, e: ShellExecutor(ShellSettings(**place), s, e))
        return Stage(name, desk, workspace, shell_task, desk.executor.close, count)
    if bare.startswith("python"):
        desk = desk_of(lambda s, e: PythonExecutor(PythonSettings(**place), s, e))
        suffix = "_async" if bare == "python-async" else ""
        many = 6 if bare == "python-sync" else 200
        return Stage(name, desk, workspace, _python_tasks(suffix), desk.executor.close, count, many)
    if bare == "pull":
        desk = desk_of(lambda s, e: _AgentsAtOnce(flags, ProcessSettings(**place), s, e))
        return Stage(name, desk, workspace, _prompt_task, desk.executor.close, count)
    if bare == "program":
        desk = desk_of(lambda s, e: ProgramExecutor(_program_work, ProcessSettings(**place), s, e))
        return Stage(name, desk, workspace, _program_task, desk.executor.close, count)
    server = ModelServer()
    await server.start()
    settings = OpenAISettings(**place, url=server.url, model="m")
    desk = desk_of(lambda s, e: OpenAIExecutor(settings, s, e))

    async def close() -> None:
        await desk.executor.close()
        await server.stop()

    return Stage(name, desk, workspace, _model_tasks(server), close, lambda: server.now)


class _AgentsAtOnce(PullExecutor):
    """An agent comes for each attempt as soon as it is started, and does what its task says."""

    def __init__(self, flags: Path, settings: ProcessSettings, spawned: ProcessSpawned, ended: Ended) -> None:
        super().__init__(settings, spawned, ended)
        self._flags = flags

    def start(self, order: StartAttempt, directory: str) -> None:
        super().start(order, directory)
        if order.task.id == "works":
            self.hand_in(order.attempt, DONE)
        elif order.task.id == "fails":
            self.hand_in(order.attempt, Ending(EndingKind.FAILED, "broken"))
        else:
            (self._flags / str(order.attempt)).touch()


def _prompt_task(behaviour: str, flags: Path, **fields: Any) -> Task:
    return Task(behaviour, prompt=behaviour, **fields)


def shell_task(behaviour: str, flags: Path, **fields: Any) -> Task:
    argv = {
        "works": ("true",),
        "fails": ("sh", "-c", "echo broken; exit 3"),
        "hangs": ("sh", "-c", 'mktemp "$1/XXXXXX"; exec sleep 1000', "sh", str(flags)),
    }[behaviour]
    return Task(behaviour, run=argv, **fields)


def _python_tasks(suffix: str) -> Callable[..., Task]:
    def task(behaviour: str, flags: Path, **fields: Any) -> Task:
        args = {"flags": str(flags)} if behaviour == "hangs" else None
        return Task(behaviour, call=f"hosts.executors.functions:{behaviour}{suffix}", args=args, **fields)

    return task


def _program_work(order: StartAttempt) -> ProgramWork | None:
    if not order.task.call:
        return None

    async def work(order: StartAttempt, directory: str) -> str:
        function = getattr(functions, f"{order.task.id}_async")
        return str(await function(**(order.task.args or {})) or "")

    return work


def _program_task(behaviour: str, flags: Path, **fields: Any) -> Task:
    args = {"flags": str(flags)} if behaviour == "hangs" else None
    return Task(behaviour, call=PROGRAM + behaviour, args=args, **fields)


def _model_tasks(server: ModelServer) -> Callable[..., Task]:
    server.script = {
        "works": says("fine"),
        "fails": Reply({"error": {"message": "broken"}}, 500),
        "hangs": Reply(hangs=True),
    }

    def task(behaviour: str, flags: Path, **fields: Any) -> Task:
        return Task(behaviour, prompt=behaviour, **fields)

    return task
