"""`manyhands add` and `manyhands task …` with `--url`: the same commands over loopback HTTP, with the store's token."""

import asyncio
from pathlib import Path

import pytest

from manyhands.core.values.task import TaskState
from manyhands.engine.dispatcher import Dispatcher
from manyhands.surfaces.api.token import token_of
from surfaces.api.live import nap, offered, open_run, store_of
from surfaces.cli.console import Console, Done


async def test_tasks_are_added_and_cancelled_over_http(
    live: Dispatcher, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "more.toml").write_text(
        '[plan]\nconcurrency = 1\n[[task]]\nid = "one"\nkind = "slow"\ncall = "asyncio:sleep"\nargs = { delay = 600 }\n'
    )
    console = Console(elsewhere)
    async with offered(live) as url:

        async def run(*arguments: str, token: str = "") -> Done:
            return await asyncio.to_thread(console.run, *arguments, "--url", url, MANYHANDS_TOKEN=token)

        refused = await run("add", "more.toml")
        assert (refused.code, "this wants the token" in refused.err) == (2, True)
        assert "MANYHANDS_TOKEN" in refused.err
        token = token_of(store_of(live))
        added = await run("add", "more.toml", "-o", "ids", token=token)
        assert (added.code, added.ids) == (0, ["one"]), added.err
        assert "`concurrency` of `[plan]` is not taken" in added.err
        assert live.book.runs["added"].records["one"].state is TaskState.RUNNING
        again = await run("add", "more.toml", token=token)
        assert (again.code, "already; it is running" in again.err) == (2, True)
        cancelled = await run("task", "cancel", "one", token=token)
        assert (cancelled.code, "task one of run added is being cancelled" in cancelled.err) == (0, True)
        await live.wait_settled("added")
        assert live.book.runs["added"].records["one"].state is TaskState.CANCELLED


async def test_the_store_s_own_token_is_used_where_it_can_be_read(live: Dispatcher) -> None:
    await open_run(live, [nap("a", 600)])
    async with offered(live) as url:
        console = Console(store_of(live).parent)
        done = await asyncio.to_thread(console.run, "task", "cancel", "a", "--run", "r", "--url", url)
        assert done.code == 0, done.err
        gone = await asyncio.to_thread(console.run, "task", "cancel", "a", "--url", "http://127.0.0.1:9")
        assert (gone.code, "nobody answers at http://127.0.0.1:9" in gone.err) == (75, True)


def test_run_follow_says_where_its_page_is_and_keeps_the_token_to_itself(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text('[[task]]\nid = "a"\nrun = ["true"]\nclaims = {}\n')
    console = Console(tmp_path)
    done = console.run("run", "plan.toml", "--follow")
    assert done.code == 0, done.err
    assert "page: http://127.0.0.1:" in done.err
    assert token_of(tmp_path / ".manyhands") not in done.err
