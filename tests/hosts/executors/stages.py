"""Each executor with tasks of the same behaviours in its own terms, for the contract suite."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hosts.executors.desk import Desk
from hosts.executors.model_server import ModelServer, Reply, says
from manyhands.core.values.task import Task
from manyhands.hosts.executors.openai_executor import OpenAIExecutor, OpenAISettings
from manyhands.hosts.executors.python_executor import PythonExecutor, PythonSettings
from manyhands.hosts.executors.shell_executor import ShellExecutor, ShellSettings

GRACE_S = 0.5
EXECUTORS = ("shell", "python-async", "python-sync", "openai")
WITH_PROCESSES = ("shell", "python-sync")


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
        return Task("misfit", run=() if self.name == "shell" else ("true",))

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
    directory = tmp_path / "attempts"
    place = {"workspace": workspace, "journal": journal, "grace_s": GRACE_S}
    if name == "shell":
        desk = Desk(lambda s, e: ShellExecutor(ShellSettings(**place), s, e), directory, journal)
        return Stage(name, desk, workspace, shell_task, desk.executor.close, count)
    if name.startswith("python"):
        desk = Desk(lambda s, e: PythonExecutor(PythonSettings(**place), s, e), directory, journal)
        suffix = "_async" if name == "python-async" else ""
        many = 6 if name == "python-sync" else 200
        return Stage(name, desk, workspace, _python_tasks(suffix), desk.executor.close, count, many)
    server = ModelServer()
    await server.start()
    settings = OpenAISettings(**place, url=server.url, model="m")
    desk = Desk(lambda s, e: OpenAIExecutor(settings, s, e), directory, journal)

    async def close() -> None:
        await desk.executor.close()
        await server.stop()

    return Stage(name, desk, workspace, _model_tasks(server), close, lambda: server.now)


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


def _model_tasks(server: ModelServer) -> Callable[..., Task]:
    server.script = {
        "works": says("fine"),
        "fails": Reply({"error": {"message": "broken"}}, 500),
        "hangs": Reply(hangs=True),
    }

    def task(behaviour: str, flags: Path, **fields: Any) -> Task:
        return Task(behaviour, prompt=behaviour, **fields)

    return task
