"""Agents that come by themselves, over HTTP, to a real dispatcher."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from manyhands.assembly import open_session
from manyhands.core.values.task import NO_CLAIMS, Claims, Task
from manyhands.engine.dispatcher import Dispatcher
from manyhands.sources.config.config_reading import load_config
from manyhands.surfaces.api.token import token_of
from surfaces.api.live import offered, open_run, store_of

CONFIG = """
[hosts.agents]
type = "pull"
width = 50
lease = "LEASE"
[store]
durability = "crash"
"""


def work(id: str, **fields: Any) -> Task:
    fields.setdefault("claims", NO_CLAIMS)
    return Task(id, kind="text", prompt=f"do {id}", **fields)


@asynccontextmanager
async def serving(directory: Path, lease: str = "60s") -> AsyncIterator[tuple[Dispatcher, "Agent"]]:
    (directory / "manyhands.toml").write_text(CONFIG.replace("LEASE", lease))
    async with (
        open_session(load_config(directory, environ={})) as dispatcher,
        offered(dispatcher) as url,
        httpx.AsyncClient(
            base_url=f"{url}/api/v1/pull",
            headers={"authorization": f"Bearer {token_of(store_of(dispatcher))}"},
            timeout=120.0,
        ) as http,
    ):
        yield dispatcher, Agent(http, "ann")


class Agent:
    def __init__(self, http: httpx.AsyncClient, name: str) -> None:
        self.http, self.name = http, name

    def named(self, name: str) -> "Agent":
        return Agent(self.http, name)

    async def ask(self, verb: str, status: int = 200, **fields: Any) -> dict[str, Any]:
        answer = await self.http.post(f"/{verb}", json={"puller": self.name, **fields})
        assert answer.status_code == status, answer.text
        told: dict[str, Any] = answer.json()
        return told


async def test_an_agent_takes_a_task_says_how_it_goes_and_hands_it_in(tmp_path: Path) -> None:
    async with serving(tmp_path) as (dispatcher, ann):
        await open_run(dispatcher, [work("a", title="first", check=("test", "-e", "made"))])
        told = await ann.ask("next", wait_s=60)
        held = told["work"]
        assert (held["task"], held["prompt"], held["check"], held["attempt"]) == (
            "a",
            "do a",
            ["test", "-e", "made"],
            1,
        )
        assert (await ann.ask("next"))["work"] == held, "asked again, it is the same one"
        renewed = await ann.ask("report", token=held["token"], progress="half way", tokens_in=5)
        assert renewed["until"] >= held["until"]
        assert renewed["stop"] == ""
        first = await ann.ask("finish", token=held["token"], result="not yet")
        assert (first["ending"], first["state"]) == ("failed", "backoff"), "its check did not pass"
        (tmp_path / "made").touch()
        again = (await ann.ask("next", wait_s=60))["work"]
        assert again["token"] > held["token"]
        assert again["last"].startswith("failed: check failed (exit 1)")
        note = {"kind": "decision", "text": "a file will do"}
        done = await ann.ask("finish", token=again["token"], result="made", cost=0.5, tokens_in=7, notes=[note])
        assert (done["ending"], done["state"]) == ("done", "done")
        assert await ann.ask("finish", token=again["token"]) == done, "an answer that was lost can be had again"
        nothing = await ann.ask("next")
        assert (nothing["work"], nothing["left"], nothing["why"]) == (None, 0, "all tasks for agents are finished")
        ending = dispatcher.book.runs["r"].records["a"].last_ending
        assert ending is not None
        assert (ending.result, ending.cost, ending.tokens_in, len(ending.notes)) == ("made", 0.5, 7, 1)


async def test_what_is_late_or_not_ones_own_is_refused_in_words(tmp_path: Path) -> None:
    async with serving(tmp_path, "1s") as (dispatcher, ann):
        await open_run(dispatcher, [work("a")])
        held = (await ann.ask("next", wait_s=60))["work"]
        told = await ann.named("eve").ask("finish", 409, token=held["token"])
        assert told["error"] == f"attempt {held['token']} at task `a` is in the hands of `ann`, not of `eve`"
        bob = (await ann.named("bob").ask("next", wait_s=60))["work"]
        assert bob["token"] > held["token"], "her lease has run out, and the next in line has the task"
        told = await ann.ask("finish", 409, token=held["token"], result="too late")
        assert "has ended as lost (its lease ran out: nothing was heard of ann for 1 s)" in told["error"]
        assert told["hint"] == "ask for the next task"
        assert (await ann.ask("report", 409, token=999))["error"] == "no lease has the token 999"


async def test_a_cancelled_task_tells_its_agent_to_stop_and_what_is_given_back_goes_to_another(tmp_path: Path) -> None:
    async with serving(tmp_path) as (dispatcher, ann):
        await open_run(dispatcher, [work("a", claims=Claims(("x",))), work("b", claims=Claims(("x",)))])
        held = (await ann.ask("next", wait_s=60))["work"]
        waiting = asyncio.create_task(ann.named("bob").ask("next", wait_s=60))
        answer = await ann.http.post(f"/../tasks/r/{held['task']}/cancel")
        assert answer.status_code == 200
        assert (await ann.ask("report", token=held["token"]))["stop"] == "cancelled: cancelled by a person"
        assert not waiting.done(), "the claim is not free yet"
        assert (await ann.ask("release", token=held["token"]))["ending"] == "cancelled"
        other = (await waiting)["work"]
        assert other["task"] == "b"
        given_back = await ann.named("bob").ask("release", token=other["token"], why="not mine")
        assert (given_back["ending"], given_back["state"]) == ("preempted", "ready")
        assert (await ann.ask("next", wait_s=60))["work"]["task"] == "b"


async def test_files_can_be_reserved_for_work_that_is_in_no_plan(tmp_path: Path) -> None:
    async with serving(tmp_path) as (dispatcher, ann):
        await open_run(dispatcher, [work("a", claims=Claims(("src/**",)))])
        kept = await ann.ask("reserve", write=["src/auth/**"], why="a quick fix")
        assert kept["work"]["claims"] == ["write src/auth/**"]
        bob = ann.named("bob")
        assert (await bob.ask("next"))["work"] is None
        assert (await bob.ask("reserve", write=["src/auth/x.py"]))["work"] is None
        assert (await ann.ask("release", token=kept["work"]["token"]))["ending"] == "done"
        assert (await bob.ask("next", wait_s=60))["work"]["task"] == "a"
        told = await ann.ask("reserve", 400)
        assert "nothing is named that could be reserved" in told["error"]
        states = {str(record.state) for record in dispatcher.book.runs["reserved"].records.values()}
        assert states == {"done", "cancelled"}


async def test_a_lease_outlives_its_dispatcher(tmp_path: Path) -> None:
    async with serving(tmp_path) as (dispatcher, ann):
        await open_run(dispatcher, [work("a"), work("b", check=("true",))])
        first = (await ann.ask("next", wait_s=60))["work"]
        second = (await ann.named("bob").ask("next", wait_s=60))["work"]
    async with serving(tmp_path) as (dispatcher, ann):
        assert (await ann.ask("report", token=first["token"]))["until"] > first["until"]
        assert (await ann.ask("finish", token=first["token"]))["ending"] == "done"
        assert (await ann.named("bob").ask("finish", token=second["token"]))["ending"] == "done"
        attempts = [record.history for record in dispatcher.book.runs["r"].records.values()]
        assert [len(history or ()) for history in attempts] == [1, 1]
