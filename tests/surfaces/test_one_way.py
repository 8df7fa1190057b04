"""The command line, HTTP and MCP answer the same: every verb is asked over all three, on the same store.

A dispatcher is running all the while, and nothing changes between the questions.
"""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from manyhands.engine.dispatcher import Dispatcher
from manyhands.sources.config.config_reading import load_config
from manyhands.surfaces.api.token import token_of
from manyhands.surfaces.mcp.calling import call
from manyhands.surfaces.mcp.tools import tools
from surfaces.api.live import live, nap, offered, open_run, shell, store_of
from surfaces.cli.console import Console

__all__ = ["live"]

Row = dict[str, Any]


class Surfaces:
    """One store, seen from three sides."""

    def __init__(self, dispatcher: Dispatcher, client: httpx.AsyncClient) -> None:
        self.dispatcher = dispatcher
        self.directory = store_of(dispatcher).parent
        self._client = client
        self._console = Console(self.directory)

    async def typed(self, *arguments: str) -> Any:
        """What the command prints as JSON."""
        done = await asyncio.to_thread(self._console.run, *arguments, "--output", "json")
        assert done.code == 0, done.err
        return done.json

    async def said(self, *arguments: str) -> str:
        """What a command that prints no data says."""
        done = await asyncio.to_thread(self._console.run, *arguments)
        return done.err.strip()

    async def fetched(self, method: str, path: str, body: Row | None = None, **query: str) -> Row:
        answer = await self._client.request(method, path, json=body, params=query)
        assert answer.status_code < 500, answer.text
        return dict(answer.json())

    async def called(self, tool: str, **arguments: Any) -> Row:
        answer = await asyncio.to_thread(call, self._load, tools(read_only=False), tool, arguments)
        return dict(msgspec.json.decode(msgspec.json.encode(answer.value)))

    def _load(self) -> Any:
        return load_config(self.directory, environ={})


@pytest.fixture
async def surfaces(live: Dispatcher) -> AsyncIterator[Surfaces]:
    await open_run(
        live,
        [
            nap("good", title="A good one"),
            shell("bad", "echo no luck; exit 3", attempts=1, priority=1),
            nap("after", needs=("bad",)),
            nap("later", kind="slow", deferred=True),
        ],
    )
    await live.wait_settled("r")  # the deferred task does not keep it
    async with offered(live) as url:
        headers = {"authorization": f"Bearer {token_of(store_of(live))}"}
        async with httpx.AsyncClient(base_url=f"{url}/api/v1", headers=headers, timeout=60) as client:
            yield Surfaces(live, client)


def still(rows: list[Row]) -> list[Row]:
    """Without how long an unfinished task has waited: that grows while we ask."""
    return [row | {"for_s": None} if row["state"] == "deferred" else row for row in rows]


async def test_tasks_runs_hosts_and_lanes_have_the_same_fields_and_values(surfaces: Surfaces) -> None:
    typed = await surfaces.typed("task", "--run", "r")
    fetched = await surfaces.fetched("GET", "/tasks", run="r")
    called = await surfaces.called("task_list", run="r")
    assert [row["task"] for row in typed] == ["bad", "later", "after", "good"]
    assert still(typed) == still(fetched["tasks"]) == still(called["tasks"])
    assert fetched | {"tasks": []} == called | {"tasks": []}

    assert await surfaces.typed("runs") == (await surfaces.fetched("GET", "/runs"))["runs"]
    assert await surfaces.fetched("GET", "/runs") == await surfaces.called("runs_list")
    run = await surfaces.typed("runs", "show", "r")
    assert run == await surfaces.fetched("GET", "/runs/r") == await surfaces.called("runs_show", run="r")
    assert [row["task"] for row in run["not_done"]] == ["bad", "after"]

    inbox = await surfaces.fetched("GET", "/inbox")
    assert inbox == await surfaces.called("inbox")
    assert await surfaces.typed("inbox") == inbox["items"]
    assert [(item["name"], item["holds"]) for item in inbox["items"]] == [("bad", 2)]

    hosts = await surfaces.fetched("GET", "/hosts")
    assert hosts == await surfaces.called("host_list")
    assert await surfaces.typed("host") == hosts["hosts"]
    assert await surfaces.typed("lane") == (await surfaces.fetched("GET", "/lanes"))["lanes"]


@pytest.mark.parametrize("task", ["good", "bad", "later"])
async def test_a_task_is_reported_the_same(surfaces: Surfaces, task: str) -> None:
    typed = await surfaces.typed("task", "show", task)
    assert typed == await surfaces.fetched("GET", f"/tasks/r/{task}") == await surfaces.called("task_show", task=task)
    assert len(typed["attempts"]) == (task != "later")


@pytest.mark.parametrize("verb", ["defer", "resume", "retry", "cancel", "publish"])
async def test_a_task_that_is_done_is_refused_in_the_same_words(surfaces: Surfaces, verb: str) -> None:
    called = await surfaces.called(f"task_{verb}", task="good")
    fetched = await surfaces.fetched("POST", f"/tasks/r/good/{verb}", {})
    assert "task `good` is done and cannot be" in called["error"]
    assert (fetched["error"], fetched["hint"]) == (called["error"], called["hint"])
    assert await surfaces.said("task", verb, "good") == f"error: {called['error']}\nhint: {called['hint']}"


@pytest.mark.parametrize(
    ("command", "request_", "tool", "arguments", "error"),
    [
        (("host", "pause", "x"), ("POST", "/hosts/x/pause", {}), "host_pause", {"host": "x"}, "there is no host `x`"),
        (
            ("host", "resume", "commands"),
            ("POST", "/hosts/commands/resume", {}),
            "host_resume",
            {"host": "commands"},
            "host `commands` is not paused",
        ),
        (
            ("host", "width", "x", "3"),
            ("PUT", "/hosts/x/width", {"width": 3}),
            "host_width",
            {"host": "x", "width": 3},
            "there is no host `x`",
        ),
        (
            ("task", "edit", "good", "--priority", "1"),
            ("PATCH", "/tasks/r/good", {"priority": 1}),
            "task_edit",
            {"task": "good", "priority": 1},
            "task `good` is done, and only a task that waits can be changed",
        ),
        (
            ("task", "cancel", "x", "--run", "r"),
            ("POST", "/tasks/r/x/cancel", {}),
            "task_cancel",
            {"task": "x", "run": "r"},
            "there is no task `x` in run r",
        ),
        (
            ("task", "show", "good", "--run", "x"),
            ("GET", "/tasks/x/good", None),
            "task_show",
            {"task": "good", "run": "x"},
            "there is no run `x`",
        ),
    ],
)
async def test_what_cannot_be_done_is_refused_in_the_same_words(
    surfaces: Surfaces,
    command: tuple[str, ...],
    request_: tuple[str, str, Row | None],
    tool: str,
    arguments: Row,
    error: str,
) -> None:
    called = await surfaces.called(tool, **arguments)
    fetched = await surfaces.fetched(*request_)
    assert called["error"] == error
    assert (fetched["error"], fetched["hint"]) == (called["error"], called["hint"])
    assert await surfaces.said(*command) == f"error: {called['error']}\nhint: {called['hint']}"


@pytest.mark.parametrize("width", [0, 10_001])
async def test_a_width_that_makes_no_sense_is_refused_by_all(surfaces: Surfaces, width: int) -> None:
    assert "error" in await surfaces.called("host_width", host="commands", width=width)
    assert "error" in await surfaces.fetched("PUT", "/hosts/commands/width", {"width": width})
    assert "error" in await surfaces.said("host", "width", "commands", str(width))
    assert surfaces.dispatcher.book.hosts["commands"].pinned is None


async def test_what_is_done_is_told_in_the_same_words(surfaces: Surfaces) -> None:
    async def each(command: tuple[str, ...], path: tuple[str, str, Row], tool: str, **arguments: Any) -> None:
        called = await surfaces.called(tool, **arguments)
        assert called == {"done": called["done"], "heard": True}
        assert await surfaces.fetched(*path) == called
        assert await surfaces.said(*command) == called["done"]

    pause = ("POST", "/hosts/commands/pause", {"why": "lunch"})
    await each(("host", "pause", "commands"), pause, "host_pause", host="commands", why="lunch")
    width = ("PUT", "/hosts/commands/width", {"width": 2})
    await each(("host", "width", "commands", "2"), width, "host_width", host="commands", width=2)
    freed = ("PUT", "/hosts/commands/width", {"width": None})
    await each(("host", "width", "commands"), freed, "host_width", host="commands")


async def test_tasks_are_added_and_refused_the_same(surfaces: Surfaces, tmp_path: Path) -> None:
    def row(id: str) -> Row:
        return {"id": id, "call": "asyncio:sleep", "args": {"delay": 0}, "kind": "quick"}

    (tmp_path / "more.jsonl").write_bytes(msgspec.json.encode(row("typed")) + b"\n")
    called = await surfaces.called("add", tasks=[row("called")], to="r")
    fetched = await surfaces.fetched("POST", "/tasks", {"tasks": [row("fetched")], "run": "r"})
    typed = await surfaces.typed("add", str(tmp_path / "more.jsonl"), "--to", "r")
    assert called == {
        "run": "r",
        "tasks": ["called"],
        "total": 1,
        "done": "1 task added to run r",
        "heard": True,
        "note": "",
    }
    assert fetched == called | {"tasks": ["fetched"]}
    assert typed == called | {"tasks": ["typed"]}
    again = await surfaces.called("add", tasks=[row("fetched")], to="r")
    refused = await surfaces.fetched("POST", "/tasks", {"tasks": [row("fetched")], "run": "r"})
    assert "run r has a task `fetched` already" in again["error"]
    assert refused["error"].partition(";")[0] == again["error"].partition(";")[0]
    lost = await surfaces.called("add", tasks=[row("lost")], to="nowhere")
    missing = await surfaces.fetched("POST", "/tasks", {"tasks": [row("lost")], "run": "nowhere"})
    assert (missing["error"], missing["hint"]) == (lost["error"], lost["hint"])
