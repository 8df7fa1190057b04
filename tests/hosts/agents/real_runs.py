"""Runs of real programs against a scripted model: a whole `manyhands run`, or attempts on one host."""

import asyncio
import json
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from hosts.agents.real_hosts import as_toml, host_table
from hosts.agents.scripted_model import ScriptedModel
from hosts.executors.desk import Desk
from manyhands.core.values.ending import Ending
from manyhands.core.values.task import Claims, Task
from manyhands.hosts.agents.agent_executor import AgentExecutor
from manyhands.hosts.agents.agent_settings import AgentSettings
from manyhands.hosts.executors.executor import Retried
from manyhands.surfaces.verbs.store_view import open_book


class Account:
    """Closed for a while after so many requests; a mode of its own at first."""

    def __init__(self, closes_after: int | None = None, closed_s: float = 20.0, first: str = "") -> None:
        self.model = ScriptedModel(self._mode)
        self._closes_after = closes_after
        self._closed_s = closed_s
        self._first = [first] if first else []
        self.closed_at = 0.0

    def _mode(self) -> str:
        if self._first:
            return self._first.pop()
        if self._closes_after is not None and len(self.model.asked) >= self._closes_after:
            self._closes_after, self.closed_at = None, time.time()
            self.model.opens_at = self.closed_at + self._closed_s
        return "closed" if time.time() < self.model.opens_at else "ok"


def left_alive(tmp_path: Path) -> list[str]:
    """The processes that have something of this test on their command line."""
    if shutil.which("ps") is None:
        return []
    listed = subprocess.run(["ps", "axww"], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if str(tmp_path) in line]


def run(
    tmp_path: Path, agent: str, account: Account, tasks: int, width: str = "3", more: str = ""
) -> subprocess.CompletedProcess[str]:
    workspace, home = tmp_path / "work", tmp_path / "home"
    workspace.mkdir()
    home.mkdir()
    table = as_toml(host_table(agent, account.model.url, home)) + more
    (workspace / "manyhands.toml").write_text(f"[hosts.{agent}]\n{table}" + (f"width = {width}\n" if width else ""))
    rows = [
        {"id": f"t{n}", "prompt": f"Run `printf done > out-{n}.txt`", "claims": {"write": [f"out-{n}.txt"]}}
        for n in range(tasks)
    ]
    (workspace / "plan.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    env = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": str(home), "TZ": "Europe/Berlin"}
    env |= {"TMPDIR": tempfile.gettempdir()}
    argv = [sys.executable, "-m", "manyhands", "run", "plan.jsonl"]
    return subprocess.run(argv, cwd=workspace, env=env, capture_output=True, text=True, timeout=400.0, check=False)


def said(tmp_path: Path, *words: str) -> str:
    argv = [sys.executable, "-m", "manyhands", "task", *words]
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path / "home")}
    return subprocess.run(argv, cwd=tmp_path / "work", env=env, capture_output=True, text=True, check=True).stdout


def shown(tmp_path: Path, task: str) -> Any:
    return json.loads(said(tmp_path, "show", task, "-o", "json"))


def doomed_starts(tmp_path: Path, task: str, account: Account) -> int:
    """How many attempts of the task were begun while the account was closed."""
    began = [attempt["started_at"] for attempt in shown(tmp_path, task)["attempts"]]
    return sum(account.closed_at <= at < account.model.opens_at for at in began)


def tries_of(tmp_path: Path) -> list[int]:
    """How many attempts count against each task."""
    book = open_book(tmp_path / "work" / ".manyhands")
    return [record.tries for run in book.runs.values() for record in run.records.values()]


def one_host(
    tmp_path: Path,
    agent: str,
    account: Account,
    *,
    retried: Retried = lambda attempt: None,
    idle_s: float = 900.0,
    sessions: int | None = None,
) -> Desk:
    """The host that its table describes, without a dispatcher that would try again."""
    workspace, home = tmp_path / "work", tmp_path / "home"
    workspace.mkdir()
    home.mkdir()
    host = host_table(agent, account.model.url, home)
    settings = AgentSettings(
        workspace=workspace,
        agent=host["agent"]["name"],
        run=tuple(host["agent"]["run"]),
        model=host.get("model", ""),
        args=tuple(host.get("args", ())),
        env=host["env"],
        idle_s=idle_s,
        sessions=sessions or host.get("sessions", 1),
    )
    return Desk(lambda s, e: AgentExecutor(settings, s, e, retried=retried), tmp_path / "attempts", settings.journal)


class Together(NamedTuple):
    endings: list[Ending]
    processes: int  # that were given to them
    peak_mb: float  # of all processes, what they share counted for each


async def run_together(desk: Desk, count: int) -> Together:
    """Attempts that begin at the same time."""
    attempts = [
        desk.start(Task(f"t{n}", prompt=f"Run `printf done > out-{n}.txt`", claims=Claims(write=(f"out-{n}.txt",))))
        for n in range(count)
    ]
    peak_bytes = 0

    async def watch() -> None:
        nonlocal peak_bytes
        while True:
            peak_bytes = max(peak_bytes, _resident_bytes({process.pid for _, process in desk.spawned}))
            await asyncio.sleep(0.25)

    watching = asyncio.create_task(watch())
    endings = [await desk.ending(attempt, within_s=400) for attempt in attempts]
    watching.cancel()
    return Together(endings, len({process.pid for _, process in desk.spawned}), peak_bytes / 1e6)


def _resident_bytes(leaders: set[int]) -> int:
    """Of the processes and of all below them."""
    found = 0
    for pid in leaders:
        try:
            leader = psutil.Process(pid)
            family = [leader, *leader.children(recursive=True)]
        except psutil.NoSuchProcess:
            continue
        for one in family:
            with suppress(psutil.NoSuchProcess):
                found += one.memory_info().rss
    return found
