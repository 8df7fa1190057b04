"""A service at work in the test's own loop, on real files and real hosts, and what can be seen of it."""

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from manyhands.apps.serve.beads_backlog import BeadsBacklog
from manyhands.apps.serve.beads_rules import BeadsRules
from manyhands.apps.serve.live_backlog import LiveBacklog
from manyhands.apps.serve.plan_backlog import PlanBacklog
from manyhands.apps.serve.service import Service
from manyhands.apps.serve.watching import POLL_S
from manyhands.assembly import open_session
from manyhands.core.state import Record, Run
from manyhands.core.values.task import Claims, Task
from manyhands.engine.dispatcher import Dispatcher
from manyhands.sources.config.config_reading import load_config
from sources.beads.backlog_files import text

PATIENCE_S = 90.0
#: Longer than any test: whatever starts was told of by the file system.
NEVER_S = 3600.0
#: What an issue runs: says who it is in a file of its own, and waits for `go` if it is told to.
RUN = ("sh", "-c", 'echo "$MANYHANDS_TASK" >> ran.txt; {hold}; echo done with "$MANYHANDS_TASK"')


def issue_task(hold: str = "true", **fields: Any) -> Task:
    run = tuple(word.replace("{hold}", hold) for word in RUN)
    return Task("", run=run, claims=Claims(), **fields)


HOLD = "while [ ! -e go ]; do sleep 0.02; done"


class AtWork:
    def __init__(self, dispatcher: Dispatcher, directory: Path, said: list[str]) -> None:
        self.dispatcher = dispatcher
        self.directory = directory
        self.said = said

    @property
    def run(self) -> Run:
        return next(iter(self.dispatcher.book.runs.values()))

    def record(self, id: str) -> Record:
        return self.run.records[id]

    def state(self, id: str) -> str:
        record = self.run.records.get(id) if self.dispatcher.book.runs else None
        return str(record.state) if record else "unknown"

    def started_at(self, id: str) -> float | None:
        record = self.run.records.get(id)
        return record.history[0].started_at if record and record.history else None

    async def until(self, condition: Callable[[], Any], what: str) -> Any:
        deadline = time.monotonic() + PATIENCE_S
        while not (found := condition()):
            assert time.monotonic() < deadline, f"waited {PATIENCE_S:g} s for {what}; said: {self.said}"
            await asyncio.sleep(0.005)
        return found

    async def until_state(self, id: str, state: str) -> None:
        await self.until(lambda: self.state(id) == state, f"{id} to be {state}, it is {self.state(id)}")

    def go(self) -> None:
        (self.directory / "go").touch()

    def ran(self) -> list[str]:
        file = self.directory / "ran.txt"
        return file.read_text().split() if file.exists() else []


@asynccontextmanager
async def serving(directory: Path, *backlogs: LiveBacklog, poll_s: float = POLL_S) -> AsyncIterator[AtWork]:
    config = load_config(directory, environ={})
    said: list[str] = []

    def log(action: str, text: str, **fields: object) -> None:
        said.append(f"{action} {fields.get('task', '')}: {text}")

    service = Service(backlogs, log, poll_s)
    stop = asyncio.Event()
    async with open_session(config, service.layer) as dispatcher:
        work = asyncio.create_task(service.serve(dispatcher, stop))
        try:
            yield AtWork(dispatcher, directory, said)
        finally:
            stop.set()
            await work


def hosts(directory: Path, width: int, kinds: str = "*") -> None:
    """A shell host; endings survive a crash, not a power cut: these tests pull no plug."""
    (directory / "manyhands.toml").write_text(
        f'[hosts.local]\ntype = "shell"\nkinds = ["{kinds}"]\nwidth = {width}\ngrace = "200ms"\n'
        '[store]\ndurability = "crash"\n'
    )


def write_plan(directory: Path, tasks: Iterable[dict[str, Any]], name: str = "plan.jsonl") -> float:
    """As a careful editor does, in one step; when."""
    rows = ({"claims": {}, "kind": "shell", **task} for task in tasks)
    lines = "".join(json.dumps({key: value for key, value in row.items() if value is not None}) + "\n" for row in rows)
    return replace_file(directory / name, lines.encode())


def write_issues(directory: Path, *rows: dict[str, Any]) -> float:
    (directory / ".beads").mkdir(exist_ok=True)
    return replace_file(directory / ".beads" / "issues.jsonl", text(*rows))


def replace_file(file: Path, raw: bytes) -> float:
    beside = file.with_name(f"{file.name}.new")
    beside.write_bytes(raw)
    at = time.time()
    os.replace(beside, file)
    return at


def read_issues(directory: Path) -> dict[str, dict[str, Any]]:
    lines = (directory / ".beads" / "issues.jsonl").read_bytes().splitlines()
    return {row["id"]: row for row in map(json.loads, lines)}


def edit_issue(directory: Path, id: str, **fields: Any) -> float:
    """As another program does: the whole file is read and replaced. A field that is None is taken out."""
    rows = read_issues(directory)
    now = time.time_ns()
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now // 10**9)) + f".{now % 10**9 // 1000:06d}Z"
    row = rows[id] | {"updated_at": stamp} | fields
    rows[id] = {name: value for name, value in row.items() if value is not None}
    return write_issues(directory, *rows.values())


def plan_of(directory: Path, name: str = "plan.jsonl", weight: float = 1.0) -> PlanBacklog:
    return PlanBacklog(directory / name, weight)


def beads_of(directory: Path, like: Task | None = None, weight: float = 1.0) -> BeadsBacklog:
    return BeadsBacklog(directory, weight, BeadsRules(like or issue_task()), directory / ".manyhands")


def shell(id: str, script: str = "true", **fields: Any) -> dict[str, Any]:
    return {"id": id, "run": ["sh", "-c", script], **fields}
