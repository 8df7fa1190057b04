"""What is wanted over HTTP is on disk when the answer comes, and is told in the same words as on the command line."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from manyhands.core import events
from manyhands.core.values.task import TaskState
from manyhands.engine.dispatcher import Dispatcher
from manyhands.engine.run_opening import attempt_directory
from manyhands.engine.store.store_opening import open_reader
from manyhands.surfaces.api.token import token_of
from surfaces.api.live import nap, offered, open_run, shell, store_of


@pytest.fixture
async def api(live: Dispatcher) -> AsyncIterator[httpx.AsyncClient]:
    async with offered(live) as url:
        headers = {"authorization": f"Bearer {token_of(store_of(live))}"}
        async with httpx.AsyncClient(base_url=f"{url}/api/v1", headers=headers, timeout=60) as client:
            yield client


def on_disk(live: Dispatcher) -> list[events.AnyEvent]:
    with closing(open_reader(store_of(live))) as reader:
        return [event for _, event in reader.read()]


async def test_added_tasks_are_on_disk_when_answered_and_then_run(live: Dispatcher, api: httpx.AsyncClient) -> None:
    rows = [
        {"id": "one", "call": "asyncio:sleep", "args": {"delay": 0}, "kind": "quick"},
        {
            "id": "two",
            "call": "asyncio:sleep",
            "args": {"delay": 0},
            "kind": "quick",
            "needs": ["one"],
            "timeout": "5m",
        },
    ]
    answer = await api.post("/tasks", json={"tasks": rows})
    told = {"run": "added", "tasks": ["one", "two"], "total": 2, "done": "2 tasks added to run added", "heard": True}
    told |= {"note": ""}
    assert (answer.status_code, answer.json()) == (200, told)
    submitted = [event for event in on_disk(live) if isinstance(event, events.TasksSubmitted)]
    assert [task.id for event in submitted for task in event.tasks] == ["one", "two"]
    await live.wait_settled("added")
    detail = (await api.get("/tasks/added/two")).json()
    assert (detail["state"], detail["plan"]["timeout"], len(detail["attempts"])) == ("done", 300.0, 1)
    again = await api.post("/tasks", json={"tasks": rows[:1]})
    assert (again.status_code, "already; it is done" in again.json()["error"]) == (409, True)


@pytest.mark.parametrize(
    ("row", "error", "field"),
    [
        ({"id": "x"}, "the task has nothing to run", ""),
        ({"id": "x", "runn": ["true"]}, "unknown field `runn`", "runn"),
        ({"id": "x", "run": ["true"], "timeout": -5}, "`timeout`", "timeout"),
        ({"id": "x", "run": ["true"], "kind": "unheard", "claims": {}}, "no host can take task `x`", "kind"),
        ({"id": "x", "run": ["true"], "needs": ["nobody"]}, "names 'nobody'", "needs"),
        ({"id": "x", "run": ["true"], "needs": ["x"]}, "wait for each other", "needs"),
    ],
)
async def test_a_bad_task_is_refused_whole(
    live: Dispatcher, api: httpx.AsyncClient, row: dict[str, Any], error: str, field: str
) -> None:
    good = {"id": "good", "run": ["true"], "kind": "shell"}
    answer = await api.post("/tasks", json={"tasks": [good, row]})
    assert answer.status_code == 422
    assert error in answer.json()["error"]
    assert answer.json().get("field", "") == field
    assert "added" not in live.book.runs


async def test_a_task_is_put_off_let_go_cancelled_and_retried(live: Dispatcher, api: httpx.AsyncClient) -> None:
    await open_run(live, [nap("hold", 600, kind="slow"), nap("a", 600, kind="slow")])

    async def ask(verb: str) -> tuple[int, TaskState]:
        status = (await api.post(f"/tasks/r/a/{verb}")).status_code
        return status, live.book.runs["r"].records["a"].state

    assert await ask("defer") == (200, TaskState.DEFERRED)
    assert await ask("retry") == (409, TaskState.DEFERRED)
    assert await ask("resume") == (200, TaskState.READY)
    assert await ask("cancel") == (200, TaskState.CANCELLED)
    assert await ask("cancel") == (409, TaskState.CANCELLED)
    assert await ask("retry") == (200, TaskState.READY)
    kinds = [type(event) for event in on_disk(live)]
    assert [kinds.count(one) for one in (events.DeferAsked, events.ResumeAsked, events.CancelAsked)] == [1, 1, 1]
    unknown = await api.post("/tasks/r/nobody/cancel")
    assert (unknown.status_code, unknown.json()["error"]) == (404, "there is no task `nobody` in run r")


async def test_a_host_is_paused_and_its_width_set_and_freed(live: Dispatcher, api: httpx.AsyncClient) -> None:
    assert (await api.post("/hosts/functions/resume")).status_code == 409
    assert (await api.post("/hosts/functions/pause", json={"why": "lunch"})).status_code == 200
    assert live.book.hosts["functions"].paused == "lunch"
    assert (await api.post("/hosts/functions/resume")).status_code == 200
    assert (await api.put("/hosts/functions/width", json={"width": 7})).status_code == 200
    host = next(one for one in (await api.get("/hosts")).json()["hosts"] if one["host"] == "functions")
    assert (host["width"], host["pinned"], host["why"]) == (7, 7, "set by a person")
    assert (await api.put("/hosts/functions/width", json={"width": None})).status_code == 200
    assert live.book.hosts["functions"].width == 2
    moves = (await api.get("/widths", params={"host": "functions"})).json()["widths"]
    assert [(move["was"], move["width"]) for move in moves] == [(2, 7), (7, 2)]
    assert (await api.put("/hosts/functions/width", json={"width": 0})).status_code == 422
    assert (await api.put("/hosts/functions/width", json={})).status_code == 422
    assert (await api.put("/hosts/nowhere/width", json={"width": 1})).status_code == 404


async def test_a_run_is_paused_goes_on_and_is_cancelled(live: Dispatcher, api: httpx.AsyncClient) -> None:
    await open_run(live, [nap(f"n{n}", 600, kind="slow") for n in range(3)])
    assert (await api.post("/runs/r/pause")).status_code == 200
    assert (await api.get("/runs/r")).json()["draining"] is True
    assert (await api.post("/runs/r/resume")).status_code == 200
    assert (await api.get("/runs/r")).json()["draining"] is False
    assert (await api.post("/runs/r/cancel", json={"why": "enough"})).status_code == 200
    await live.wait_settled("r")
    assert live.book.runs["r"].counts[TaskState.CANCELLED] == 3
    assert (await api.post("/runs/r/cancel")).status_code == 409


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"{", "application/json", 400),
        (b"\xff\xfe", "application/json", 400),
        (b'{"tasks":[{"id":' + b"[" * 100_000, "application/json", 400),
        (b'{"tasks": 3}', "application/json", 422),
        (b'{"tasks": []}', "application/json", 422),
        (b'{"tasks": [], "more": 1}', "application/json", 422),
        (b"tasks=1", "application/x-www-form-urlencoded", 415),
        (b"{}", "text/plain", 415),
    ],
)
async def test_a_body_that_is_not_as_described_is_refused(
    api: httpx.AsyncClient, content: bytes, kind: str, status: int
) -> None:
    answer = await api.post("/tasks", content=content, headers={"content-type": kind})
    assert (answer.status_code, bool(answer.json()["error"])) == (status, True)


async def test_tasks_are_filtered_paged_and_always_counted_whole(live: Dispatcher, api: httpx.AsyncClient) -> None:
    await open_run(live, [*(nap(f"n{n}", title=f"Nap {n}") for n in range(25)), shell("sh", "exit 3", attempts=1)])
    await live.wait_settled("r")

    async def found(**query: str) -> tuple[int, int]:
        answer = (await api.get("/tasks", params=query)).json()
        assert answer["counts"]["done"] == 25
        assert answer["counts"]["failed"] == 1
        return answer["total"], len(answer["tasks"])

    assert await found() == (26, 26)
    assert await found(limit="10", offset="20") == (26, 6)
    assert await found(state="failed") == (1, 1)
    assert await found(kind="quick", host="functions") == (25, 25)
    assert await found(q="NAP 2") == (6, 6)
    assert await found(file="src/x.py") == (0, 0)
    assert (await api.get("/tasks", params={"state": "finished"})).status_code == 422


async def test_a_pipe_in_place_of_an_output_file_uses_up_no_threads(live: Dispatcher, api: httpx.AsyncClient) -> None:
    pipe = 'cd "$(dirname "$MANYHANDS_USAGE_FILE")"; rm output.log; mkfifo output.log; touch ready; sleep 600'
    await open_run(live, [shell("odd", pipe)])
    ready = Path(attempt_directory(store_of(live), "r", "odd", 1), "ready")
    async with asyncio.timeout(90):
        while not ready.exists():  # noqa: ASYNC110, ASYNC240
            await asyncio.sleep(0.01)
        reads = [api.get("/tasks/r/odd/output") for _ in range(12)] + [api.get("/tasks/r/odd") for _ in range(12)]
        answers = await asyncio.gather(*reads)
    assert {answer.status_code for answer in answers} == {200}
    assert (await api.post("/tasks/r/odd/cancel")).status_code == 200
    await live.wait_settled("r")


async def test_output_comes_piece_by_piece_in_whole_lines(live: Dispatcher, api: httpx.AsyncClient) -> None:
    await open_run(live, [shell("talks", "echo one; echo two; printf unfinished; sleep 600")])
    text, after = "", 0
    async with asyncio.timeout(90):
        while text != "one\ntwo\n":
            answer = (await api.get("/tasks/r/talks/output", params={"after": str(after)})).json()
            text, after = text + answer["text"], answer["next"]
    assert (await api.get("/tasks/r/talks/output", params={"after": str(after)})).json()["text"] == ""
    assert (await api.post("/tasks/r/talks/cancel")).status_code == 200
    await live.wait_settled("r")
    rest = (await api.get("/tasks/r/talks/output", params={"after": str(after)})).json()
    assert rest["text"] == "unfinished"
    assert (await api.get("/tasks/r/talks/output", params={"attempt": "2"})).status_code == 404


async def test_output_is_answered_without_secrets(live: Dispatcher, api: httpx.AsyncClient) -> None:
    await open_run(live, [shell("talks", "echo key $SHOP_TOKEN", env={"SHOP_TOKEN": "hush-hush-hush-1"})])
    await live.wait_settled("r")
    answer = (await api.get("/tasks/r/talks/output")).json()
    assert answer["text"] == "key [redacted]\n"
