"""A real git repository with a workspace in it, runs on it, and what its history says afterwards."""

import asyncio
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from manyhands.assembly import open_session
from manyhands.core.state import AttemptRecord, Run
from manyhands.core.values.task import Claims, Task
from manyhands.engine.dispatcher import Dispatcher
from manyhands.engine.run_opening import new_name, opening
from manyhands.sources.config.config_reading import load_config

#: No configuration of whoever runs the tests.
ENV = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}


class Project:
    def __init__(self, directory: Path, files: dict[str, str] | None = None, identity: bool = True) -> None:
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        self.git("init", "--quiet", "--initial-branch=main")
        if identity:
            self.git("config", "user.name", "Someone")
            self.git("config", "user.email", "someone@example.org")
        if files is not None:
            self.commit(files, "first")

    @property
    def store(self) -> Path:
        return self.directory / ".manyhands"

    def git(self, *arguments: str, at: Path | None = None) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=at or self.directory, env={**os.environ, **ENV}, capture_output=True, check=False
        )
        assert done.returncode == 0, f"git {' '.join(arguments)}: {done.stderr.decode()}"
        return done.stdout.decode().strip("\n")

    def write(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            file = self.directory / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    def commit(self, files: dict[str, str], message: str) -> str:
        self.write(files)
        self.git("add", "--", *files)
        self.git("-c", "user.name=A", "-c", "user.email=a@b", "commit", "--quiet", "-m", message)
        return self.git("rev-parse", "HEAD")

    def read(self, name: str) -> str:
        return (self.directory / name).read_text()

    def config(self, width: int = 4, at: str = "", **landing: object) -> None:
        lines = ["[hosts.local]", 'type = "shell"', f"width = {width}", "grace = 1", "[landing]"]
        lines += [
            f"{name} = {str(value).lower() if isinstance(value, bool) else repr(value)}"
            for name, value in landing.items()
        ]
        lines += ["[store]", 'durability = "crash"']
        self.write({os.path.join(at, "manyhands.toml"): "\n".join(lines) + "\n"})

    # What the history says

    def subjects(self, branch: str = "main") -> list[str]:
        """Oldest first, without the first commit."""
        return self.git("log", "--reverse", "--format=%s", branch).splitlines()[1:]

    def landed(self, branch: str = "main") -> list[str]:
        """The tasks in the order in which they landed."""
        form = "%(trailers:key=Manyhands-Task,valueonly)"
        return [line.rpartition("/")[2] for line in self.git("log", "--reverse", f"--format={form}", branch).split()]

    def branches(self) -> list[str]:
        """Those that attempts left."""
        return self.git("for-each-ref", "--format=%(refname:short)", "refs/heads/manyhands").splitlines()

    def worktrees(self) -> list[str]:
        return self.git("worktree", "list", "--porcelain").split("worktree ")[2:]

    def changes(self) -> str:
        return self.git("status", "--porcelain", "--untracked-files=no")

    def is_linear(self, branch: str = "main") -> bool:
        return all(len(line.split()) <= 2 for line in self.git("rev-list", "--parents", branch).splitlines())

    # Runs

    async def run(
        self, *tasks: Task, at: str = "", meanwhile: Callable[[Dispatcher], Any] | None = None, **bounds: Any
    ) -> Run:
        """Runs in this process until it rests. The next run continues with the unfinished tasks."""
        async with open_session(load_config(self.directory / at, environ={})) as dispatcher:
            name = new_name(dispatcher.book, "plan")
            await dispatcher.submit(*opening(name, dispatcher.clock.now(), tasks, "a plan", **bounds))
            if meanwhile is not None:
                await meanwhile(dispatcher)
            await dispatcher.wait_settled(name)
            return dispatcher.book.runs[name]


def sh(
    id: str, script: str, *, write: tuple[str, ...] | None = None, append: tuple[str, ...] = (), **fields: Any
) -> Task:
    """A line of shell in a worktree; it claims nothing that it does not say."""
    claims = Claims(write or (), append)
    return Task(id, kind="shell", run=("sh", "-c", script), workspace="worktree", claims=claims, **fields)


async def until(holds: Callable[[], Any], patience_s: float = 60.0) -> None:
    """Wait for something that can only be looked at: a file, a branch."""
    give_up_at = time.monotonic() + patience_s
    while not holds():
        assert time.monotonic() < give_up_at, "waited in vain"
        await asyncio.sleep(0.05)


def attempts(run: Run, task: str) -> list[AttemptRecord]:
    return run.records[task].history or []


def details(run: Run, task: str) -> list[str]:
    """How its attempts ended, in words."""
    return [f"{tried.ending.kind}: {tried.ending.detail}" for tried in attempts(run, task) if tried.ending]


def states(run: Run) -> dict[str, str]:
    return {id: str(record.state) for id, record in run.records.items()}
