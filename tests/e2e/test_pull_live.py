"""Agents that come by themselves, as real processes: from a shell, over MCP, and past the death of the dispatcher."""

import os
import re
import signal

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from manyhands.surfaces.api.token import token_of
from surfaces.cli.console import PATIENCE_S, Console, Live, wait_until
from surfaces.mcp.test_mcp_server import Agent, agent

CONFIG = """
[hosts.agents]
type = "pull"
width = 4
lease = "2m"
"""


def serve(console: Console) -> tuple[Live, str]:
    live = console.start("serve", "--port", "0")
    live.wait_for("action=serving")
    found = re.search(r"http://127\.0\.0\.1:\d+", live.err)
    assert found is not None
    return live, found[0]


def test_an_agent_in_a_shell_outlives_a_killed_dispatcher(console: Console) -> None:
    console.config(CONFIG)
    none = console.run("pull", "next", "--as", "ann")
    assert (none.code, "no dispatcher is running" in none.err) == (75, True)
    live, _ = serve(console)
    console.plan([{"id": "a", "prompt": "write a", "claims": {"write": ["a"]}}])
    assert console.run("add", "plan.jsonl").code == 0
    told = console.run("pull", "next", "--as", "ann", "--wait", "60")
    assert told.out == "token 1: task a of run added, attempt 1, kind text\nclaims: write a\n\nwrite a\n"
    assert console.run("pull", "report", "1", "--as", "ann", "--say", "at it").err == "lease 1 is renewed\n"
    assert "ann works on it for agents, as attempt 1" in console.run("task", "explain", "a").out

    os.kill(live.process.pid, signal.SIGKILL)
    live.process.wait(PATIENCE_S)
    late = console.run("pull", "finish", "1", "--as", "ann")
    assert late.code == 75, "nobody could take it"
    serve(console)
    done = console.run("pull", "finish", "1", "--as", "ann", "--note", "lesson: save often", "--result", "42")
    assert done.err == "attempt recorded as done; task a of run added is done\n"
    record = console.book().runs["added"].records["a"]
    assert [tried.puller for tried in record.history or ()] == ["ann"]
    again = console.run("pull", "finish", "1", "--as", "bob")
    assert again.code == 2
    assert "is in the hands of `ann`, not of `bob`" in again.err


async def test_agents_over_both_transports_of_mcp_work_off_one_backlog(console: Console) -> None:
    console.config(CONFIG)
    _, url = serve(console)
    headers = {"authorization": f"Bearer {token_of(console.store)}"}
    async with (
        agent(console) as stdio,
        httpx2.AsyncClient(headers=headers, timeout=PATIENCE_S) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http), read_timeout_seconds=PATIENCE_S) as client,
    ):
        over_http = Agent(client)
        tasks = [{"id": id, "prompt": f"do {id}", "claims": {"write": ["same"]}} for id in ("a", "b")]
        assert (await over_http.ask("add", tasks=tasks))["heard"]
        held = (await stdio.ask("pull_next", wait_s=60))["work"]
        assert (held["task"], held["claims"]) == ("a", ["write same"])
        nothing = await over_http.ask("pull_next", puller="remote", wait_s=0)
        assert (nothing["work"], nothing["left"]) == (None, 2)
        assert "same (to write) is held by a#1@agents" in (await over_http.ask("task_explain", task="b"))["why"][0]
        assert (await stdio.ask("pull_report", token=held["token"], progress="half way"))["stop"] == ""
        done = await stdio.ask("pull_finish", token=held["token"], notes="decision: keep it short")
        assert (done["ending"], done["state"]) == ("done", "done")
        other = (await over_http.ask("pull_next", puller="remote", wait_s=60))["work"]
        assert other["task"] == "b"
        assert "`puller` is missing" in await over_http.refused("pull_finish", token=other["token"])
        assert "is in the hands of `remote`" in await stdio.refused("pull_finish", token=other["token"])
        assert (await over_http.ask("pull_finish", token=other["token"], puller="remote"))["state"] == "done"
        kept = (await stdio.ask("pull_reserve", write=["docs/**"], why="a typo"))["work"]
        assert kept["claims"] == ["write docs/**"]
        assert (await stdio.ask("pull_release", token=kept["token"]))["ending"] == "done"
    wait_until(lambda: not console.book().running, "the last ending")
