"""The hosts and plans in examples/: agents with a stand-in on PATH, models with a scripted server behind their URL."""

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from hosts.executors.model_server import ModelServer, Reply, says, streams
from manyhands.core.values.ending import EndingKind
from surfaces.cli.console import Console

EXAMPLES = Path(__file__).parents[2] / "examples"
PROMPTS = 8
KEY = "sk-of-the-example-0123456789"


@pytest.mark.parametrize("agent", ["claude", "codex", "aider"])
def test_the_plan_for_an_agent_runs_with_arguments_the_agent_takes(console: Console, agent: str) -> None:
    on_path = console.directory / "bin"
    on_path.mkdir()
    (on_path / agent).symlink_to(EXAMPLES / "agents" / "stand-in")
    plan, hosts = EXAMPLES / "agents" / f"{agent}.toml", EXAMPLES / "agents" / "hosts.toml"
    path = f"{on_path}{os.pathsep}{os.environ['PATH']}"
    done = console.run("run", str(plan), "--hosts", str(hosts), "-o", "json", PATH=path)
    assert (done.code, done.json["counts"]["done"]) == (0, 3), done.err
    written = (console.directory / "tests" / "test_both.py").read_text()
    assert written.startswith(f"# {agent}: Write tests/test_both.py: tests of")
    (run,) = console.book().runs.values()
    endings = [tried.ending for record in run.records.values() for tried in record.history or ()]
    assert [ending.tokens_in for ending in endings if ending is not None] == [1200] * 3
    assert {tried.host for record in run.records.values() for tried in record.history or ()} == {agent}


def test_an_agent_that_is_not_there_is_named(console: Console) -> None:
    plan, hosts = EXAMPLES / "agents" / "codex.toml", EXAMPLES / "agents" / "hosts.toml"
    done = console.run("run", str(plan), "--hosts", str(hosts), PATH="/usr/bin:/bin")
    assert done.code == 1
    assert "codex" in done.out


def test_the_stand_in_refuses_what_the_agent_would(console: Console) -> None:
    program = console.directory / "claude"
    program.symlink_to(EXAMPLES / "agents" / "stand-in")
    done = subprocess.run([program, "exec", "Write x:"], capture_output=True, text=True, cwd=console.directory)
    assert done.returncode == 2
    assert "unrecognized arguments" in done.stderr or "required" in done.stderr
    assert not (console.directory / "x").exists()


class Budgeted(ModelServer):
    """Refuses its fourth request with 429, and says when to come back."""

    def _reply_to(self, body: dict[str, Any]) -> Reply:
        if len(self.asked) == 4:
            error = {"error": {"message": "Rate limit reached", "type": "requests", "code": "rate_limit_exceeded"}}
            return Reply(error, status=429, headers={"retry-after": "1"})
        return super()._reply_to(body)


@pytest.fixture
async def server() -> AsyncIterator[Budgeted]:
    server = Budgeted()
    await server.start()
    yield server
    await server.stop()


@pytest.mark.parametrize("name", ["ollama", "vllm"])
async def test_a_local_model_host_answers_the_prompts(console: Console, server: Budgeted, name: str) -> None:
    server.asked += [{}] * 4  # no budget here
    server.otherwise = streams("it ", "is so")
    url = {f"MANYHANDS_HOSTS_{name.upper()}_URL": server.url}
    plan, hosts = str(EXAMPLES / "prompts.toml"), str(EXAMPLES / f"{name}.toml")
    done = await asyncio.to_thread(console.run, "run", plan, "--hosts", hosts, "-o", "json", **url)
    assert (done.code, done.json["counts"]["done"]) == (0, PROMPTS), done.err
    (run,) = console.book().runs.values()
    assert {record.last_ending.result for record in run.records.values()} == {"it is so"}  # type: ignore[union-attr]
    assert {tried.host for record in run.records.values() for tried in record.history or ()} == {name}


async def test_the_rate_limited_host_waits_when_told_and_loses_no_task(console: Console, server: Budgeted) -> None:
    server.otherwise = says("it is so")
    env = {"MANYHANDS_HOSTS_API_URL": server.url, "OPENAI_API_KEY": KEY}
    plan, hosts = str(EXAMPLES / "prompts.toml"), str(EXAMPLES / "rate-limited.toml")
    done = await asyncio.to_thread(console.run, "run", plan, "--hosts", hosts, "-o", "json", **env)
    assert (done.code, done.json["counts"]["done"]) == (0, PROMPTS), done.err
    assert {headers["authorization"] for headers in server.headers} == {f"bearer {KEY}"}
    (run,) = console.book().runs.values()
    endings = [tried.ending.kind for record in run.records.values() for tried in record.history or () if tried.ending]
    assert (endings.count(EndingKind.OVERLOADED), endings.count(EndingKind.DONE)) == (1, PROMPTS)
    assert {record.tries for record in run.records.values()} == {0}, "a refusal is not a failed try"
