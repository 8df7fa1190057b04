"""Functions from the workspace through the command line: async and sync, good and bad, too slow and killed."""

import psutil

from surfaces.cli.console import Console

CONFIG = '[hosts.functions]\ntype = "python"\nwidth = 3\ngrace = "200ms"\n'
MODULE = """
import asyncio, os, time
from pathlib import Path

def add(a, b):
    return a + b

async def add_async(a, b):
    await asyncio.sleep(0)
    return a + b

def fail():
    raise ValueError("no such luck")

def hang():
    Path("hanging.pid").write_text(str(os.getpid()))
    while True:
        time.sleep(1)
"""


def call(id: str, function: str, **fields: object) -> dict[str, object]:
    return {"id": id, "kind": "python", "call": f"work:{function}", "attempts": 1, **fields}


def test_sync_and_async_functions_of_the_workspace_are_called(console: Console) -> None:
    console.config(CONFIG)
    console.write("work.py", MODULE)
    args = {"a": 40, "b": 2}
    console.plan(
        [
            call("sync", "add", args=args),
            call("async", "add_async", args=args),
            call("bad", "fail"),
            call("missing", "nothing"),
            call("stuck", "hang", timeout=3),
        ]
    )
    done = console.run("run", "plan.jsonl")
    assert done.code == 1
    records = console.book().runs["plan-1"].records
    endings = {id: record.history[-1].ending for id, record in records.items()}
    assert [(endings[id].kind, endings[id].result) for id in ("sync", "async")] == [("done", "42")] * 2
    assert endings["bad"].kind == "failed"
    assert "ValueError: no such luck" in endings["bad"].detail
    assert "nothing" in endings["missing"].detail
    assert endings["stuck"].kind == "timed_out"
    assert "took longer than 3 s" in endings["stuck"].detail
    pid = int((console.directory / "hanging.pid").read_text())
    assert not psutil.pid_exists(pid), "a time-out kills a function that cannot be interrupted"
    assert console.run("task", "log", "sync").out.strip() == "42"
