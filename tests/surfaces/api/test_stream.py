"""The stream of a real dispatcher over real sockets: a snapshot, then every change once, also after coming back."""

import asyncio
from contextlib import AsyncExitStack

import httpx
import pytest
from msgspec.structs import replace

from manyhands.core.events import AttemptEnded
from manyhands.core.values.task import Claims, TaskState
from manyhands.engine.dispatcher import Dispatcher
from manyhands.surfaces.api import feed as feeds
from manyhands.surfaces.api.token import token_of
from surfaces.api.followers import following
from surfaces.api.live import nap, offered, open_run, shell, store_of


async def test_a_follower_gets_a_snapshot_and_then_every_start_and_end_once(live: Dispatcher) -> None:
    async with offered(live) as url, following(url) as follower:
        assert (await follower.next())[0] == "snapshot"
        await open_run(live, [nap(f"n{n}") for n in range(40)])
        await follower.read_until(lambda one: one.has_ended("r"))
    starts, ends = follower.of("start"), follower.of("end")
    assert sorted(one["attempt"] for one in starts) == sorted(one["attempt"] for one in ends) == list(range(1, 41))
    assert {one["ending"] for one in ends} == {"done"}
    assert {one["slot"] for one in starts} == {0, 1}, "the host's width is 2"
    assert len(follower.snapshots) == 1
    last = {one["task"]: one["state"] for one in follower.of("task")}
    assert last == {f"n{n}": "done" for n in range(40)}
    assert follower.frames[-1]["seq"] == live.last


async def test_who_comes_back_with_the_last_id_misses_nothing_and_gets_nothing_twice(live: Dispatcher) -> None:
    async with offered(live) as url:
        async with following(url) as before:
            await before.next()
            await open_run(live, [nap("hold", 1.0, kind="slow"), *(nap(f"n{n}") for n in range(30))])
            await before.read_until(lambda one: len(one.of("end")) >= 5)
        await live.wait_settled("r")  # all of it happens while nobody looks
        async with following(url, after=before.last_id) as after:
            await after.read_until(lambda one: one.has_ended("r"))
        assert after.snapshots == []
        ended = [one["attempt"] for follower in (before, after) for one in follower.of("end")]
        assert sorted(ended) == list(range(1, 32))


@pytest.mark.parametrize("after", ["nonsense", "12", "ffffffff-3", "-", "x" * 60])
async def test_an_id_that_is_not_ours_gives_a_fresh_snapshot(live: Dispatcher, after: str) -> None:
    async with offered(live) as url, following(url, after=after) as follower:
        assert (await follower.next())[0] == "snapshot"


async def test_who_was_away_for_longer_than_is_kept_gets_a_snapshot(
    live: Dispatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "EVENTS_KEPT_MIN", 10)
    async with offered(live) as url, following(url) as stays:
        async with following(url) as before:
            await before.next()
        for run in ("r", "s", "t"):  # one after another: in frames of their own, and each more than is kept
            await open_run(live, [nap(f"n{n}") for n in range(20)], run)
            await stays.read_until(lambda one, run=run: one.has_ended(run))  # type: ignore[misc]
        async with following(url, after=before.last_id) as after:
            kind, snapshot = await after.next()
        assert kind == "snapshot"
        assert snapshot["seq"] == live.last
        assert [run["counts"]["done"] for run in snapshot["runs"]] == [20] * 3


async def test_more_changes_than_a_snapshot_is_worth_come_as_a_snapshot(
    live: Dispatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "CHANGES_MAX", 50)
    async with offered(live) as url, following(url) as follower:
        await follower.next()
        await open_run(live, [nap(f"n{n}", 600) for n in range(200)])
        await follower.read_until(lambda one: len(one.snapshots) == 2)
        assert follower.snapshots[-1]["tasks"]["shown"] == follower.snapshots[-1]["tasks"]["total"] == 200


async def test_a_stream_can_be_narrowed_to_one_run(live: Dispatcher) -> None:
    async with offered(live) as url, following(url, run="wanted") as follower:
        await follower.next()
        await open_run(live, [nap(f"o{n}") for n in range(5)], "other")
        await open_run(live, [nap(f"w{n}") for n in range(5)], "wanted")
        await follower.read_until(lambda one: one.has_ended("wanted"))
        assert {one["run"] for one in follower.of("task")} == {"wanted"}
        # What others use is told too: their slots are not free.
        assert {one["run"] for one in follower.of("start")} == {"wanted", "other"}


async def test_the_last_line_an_attempt_printed_comes_by_the_way_without_its_secrets(live: Dispatcher) -> None:
    async with offered(live) as url, following(url) as follower:
        await follower.next()
        await open_run(live, [shell("talks", "echo one; echo key sk-abcdefghijklmnop; sleep 600")])
        await follower.read_until(lambda one: bool(one.of("output")))
        assert follower.of("output")[-1]["line"] == "key [redacted]"


async def test_a_follower_sees_what_an_attempt_says_that_it_does_and_so_does_explain(live: Dispatcher) -> None:
    """An agent host writes that beside the output; whatever else is written there is hostile, and nothing."""
    facts = (
        '{"does": "edit src/a.py", "tokens_in": 900, "tokens_out": 30, "cost": 0.25, "alive_at": 1.0, "idle_s": 900}'
    )
    say = f'cd "$(dirname "$MANYHANDS_ENDING_FILE")"; echo \'{facts}\' > live.json; echo "→ edit src/a.py"; sleep 1000'
    async with offered(live) as url, following(url) as follower:
        await open_run(live, [shell("says", say), shell("lies", say.replace("900,", "-900,"))])
        await follower.read_until(lambda one: bool(one.of("live")))
        row = follower.of("live")[-1]
        assert (row["does"], row["tokens"], row["cost"]) == ("edit src/a.py", 930, 0.25)
        await follower.read_until(lambda one: bool(one.of("output")))
        assert follower.of("output")[-1]["line"] == row["line"], "a page can tell that the line says nothing more"
        headers = {"authorization": f"Bearer {token_of(store_of(live))}"}
        async with httpx.AsyncClient(base_url=f"{url}/api/v1", headers=headers, timeout=60) as api:
            answers = [(await api.get(f"/tasks/r/{task}")).json() for task in ("says", "lies")]
        assert "last tool: edit src/a.py" in answers[0]["why"]
        assert any(why.startswith("silent for ") and "ends after 15 min" in why for why in answers[0]["why"])
        assert answers[0]["attempts"][0]["tokens_in"] == 900
        assert len(answers[1]["why"]) == 1
        assert {one["attempt"] for one in follower.of("live")} == {row["attempt"]}


async def test_why_a_host_has_room_is_told(live: Dispatcher) -> None:
    holds = Claims(write=("src/a/**",))
    async with offered(live) as url, following(url) as follower:
        await follower.next()
        first, second = (replace(shell(name, "sleep 600"), claims=holds) for name in ("first", "second"))
        await open_run(live, [first, second, shell("third", "true", needs=("second",))])
        await follower.read_until(lambda one: bool(one.of("idle")))
        idle = {row["host"]: row for row in follower.of("idle")[-1]["idle"]}
        assert (idle["commands"]["cause"], idle["commands"]["free"]) == ("claims", 2)
        assert "src/a/** (to write) is held by second#1@commands" in idle["commands"]["detail"]
        assert idle["functions"]["cause"] == "no work"
        (claim,) = follower.of("claims")[-1]["claims"]
        assert (claim["claim"], claim["holders"], claim["waiting"]) == ("src/a/**", ["second"], 1)


async def test_who_comes_late_is_told_why_hosts_were_idle_while_nobody_looked(
    live: Dispatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "UNWATCHED_EVERY_S", 0.0)
    async with offered(live) as url:
        await open_run(live, [shell("first", "sleep 0.3"), replace(shell("second", "true"), deferred="later")])
        done = asyncio.Event()
        live.recorded.append(lambda batch: done.set() if any(isinstance(one, AttemptEnded) for one in batch) else None)
        await asyncio.wait_for(done.wait(), 60)
        async with following(url) as follower:
            _, snapshot = await follower.next()
    spans = [span for span in snapshot["idle_past"] if span["host"] == "commands"]
    assert [(span["cause"], span["to"]) for span in spans[-1:]] == [("deferred", None)], "put off by a person, still so"
    assert spans[-1]["free"] == spans[-2]["free"] + 1, "one fewer was free while the first ran"
    assert spans[-2]["to"] == spans[-1]["from"]
    assert snapshot["waiting_past"]


async def test_a_packed_stream_says_the_same_as_a_plain_one(live: Dispatcher) -> None:
    async with offered(live) as url, httpx.AsyncClient(timeout=60) as client:
        plain_headers = {"accept-encoding": "identity"}
        async with (
            following(url) as packed,
            client.stream("GET", f"{url}/api/v1/stream", headers=plain_headers) as plain,
        ):
            assert "content-encoding" not in plain.headers
            await packed.next()
            await open_run(live, [nap(f"n{n}") for n in range(10)])
            await packed.read_until(lambda one: one.has_ended("r"))
            seen = ""
            async for text in plain.aiter_text():
                seen += text
                if seen.count('"t":"end"') == 10:
                    break
        assert len(packed.of("end")) == 10
        assert live.book.runs["r"].counts[TaskState.DONE] == 10


async def test_streams_end_when_the_server_does(live: Dispatcher) -> None:
    async with AsyncExitStack() as stack:
        async with offered(live) as url:
            follower = await stack.enter_async_context(following(url))
            await follower.next()
        with pytest.raises((EOFError, httpx.HTTPError)):
            await follower.next()


async def test_what_happened_just_before_the_server_went_is_told(live: Dispatcher) -> None:
    """A run with a page ends with its last task: whoever watches it is not to be left with that one running."""
    async with AsyncExitStack() as stack:
        async with offered(live) as url:
            follower = await stack.enter_async_context(following(url))
            await follower.next()
            await open_run(live, [nap(f"n{n}", 0.02) for n in range(20)])
            await live.wait_settled("r")
        with pytest.raises((EOFError, httpx.HTTPError)):
            await follower.read_until(lambda one: False)
    assert len(follower.of("end")) == 20
    assert follower.has_ended("r")
    assert follower.frames[-1]["seq"] == live.last
