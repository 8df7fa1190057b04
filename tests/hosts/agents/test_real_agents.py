"""The real programs, each with a home of its own and an environment built from nothing, against a scripted model.

`make agents` installs them; where they are not, these tests are skipped and say so.
"""

import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hosts.agents.scripted_model import ScriptedModel
from hosts.executors.desk import Desk
from manyhands.core.values.ending import Ending
from manyhands.core.values.task import Task
from manyhands.hosts.agents.agent_executor import AgentExecutor
from manyhands.hosts.agents.agent_settings import AgentSettings

PROGRAMS = (
    Path(os.environ.get("MANYHANDS_AGENTS", Path.home() / ".cache" / "manyhands-agents")) / "node_modules" / ".bin"
)
AGENTS = ("codex", "claude", "qwen")
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("agents")]


def host_table(agent: str, url: str, home: Path) -> str:
    """What a manyhands.toml says of the agent, and what the program's own home needs."""
    program = f'agent = {{ name = "{agent}", run = ["{PROGRAMS / agent}"] }}\naccount = "work"\n'
    home_env = f'HOME = "{home}"'
    match agent:
        case "qwen-acp":
            env = f'{home_env}, OPENAI_BASE_URL = "{url}/v1", OPENAI_API_KEY = "none", OPENAI_MODEL = "m"'
            words = json.dumps([str(PROGRAMS / "qwen"), "--acp", "--auth-type", "openai"])
            acp = f'agent = {{ name = "acp", run = {words} }}\naccount = "work"\nsessions = 8\n'
            return f'type = "agent"\n{acp}env = {{ {env} }}\n'
        case "claude":
            env = f'{home_env}, ANTHROPIC_BASE_URL = "{url}", CLAUDE_CODE_OAUTH_TOKEN = "sk-ant-oat01-none"'
            return f'type = "agent"\n{program}model = "claude-sonnet-5"\nenv = {{ {env} }}\n'
        case "qwen":
            env = f'{home_env}, OPENAI_BASE_URL = "{url}/v1", OPENAI_API_KEY = "none", OPENAI_MODEL = "m"'
            return f'type = "agent"\n{program}args = ["--auth-type", "openai"]\nenv = {{ {env} }}\n'
    settings = home / ".codex" / "config.toml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(
        f'model_provider = "here"\n[model_providers.here]\nname = "here"\nbase_url = "{url}/v1"\nenv_key = "NO_KEY"\n'
        'wire_api = "responses"\nrequest_max_retries = 0\nstream_max_retries = 0\n'
    )
    env = f'{home_env}, CODEX_HOME = "{home / ".codex"}", NO_KEY = "none"'
    return f'type = "agent"\n{program}model = "gpt-5"\nenv = {{ {env} }}\n'


class Account:
    """Closed for a while after so many requests; a mode of its own otherwise."""

    def __init__(self, closes_after: int | None = None, closed_s: float = 20.0, first: str = "") -> None:
        self.model = ScriptedModel(self._mode)
        self._closes_after = closes_after
        self._closed_s = closed_s
        self._first = [first] if first else []

    def _mode(self) -> str:
        if self._first:
            return self._first.pop() if self._first[0] not in ("auth", "context") else self._first[0]
        if self._closes_after is not None and len(self.model.asked) >= self._closes_after:
            self._closes_after, self.model.opens_at = None, time.time() + self._closed_s
        return "closed" if time.time() < self.model.opens_at else "ok"


@pytest.fixture
def accounts() -> Iterator[list[Account]]:
    made: list[Account] = []
    yield made
    for account in made:
        account.model.close()


def left_alive(tmp_path: Path) -> list[str]:
    """The processes that have something of this test on their command line."""
    if shutil.which("ps") is None:
        return []
    listed = subprocess.run(["ps", "axww"], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if str(tmp_path) in line]


def run(
    tmp_path: Path, agent: str, account: Account, tasks: int, width: int = 3, within_s: float = 240.0
) -> subprocess.CompletedProcess[str]:
    if not (PROGRAMS / agent.removesuffix("-acp")).exists():
        pytest.skip(f"{agent} is not installed in {PROGRAMS}; `make agents` installs it")
    workspace, home = tmp_path / "work", tmp_path / "home"
    workspace.mkdir()
    home.mkdir()
    table = host_table(agent, account.model.url, home)
    (workspace / "manyhands.toml").write_text(f"[hosts.{agent}]\n{table}width = {width}\n")
    rows = [
        {"id": f"t{n}", "prompt": f"Run `printf done > out-{n}.txt`", "claims": {"write": [f"out-{n}.txt"]}}
        for n in range(tasks)
    ]
    (workspace / "plan.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    env = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": str(home), "TZ": "Europe/Berlin"}
    argv = [sys.executable, "-m", "manyhands", "run", "plan.jsonl"]
    return subprocess.run(argv, cwd=workspace, env=env, capture_output=True, text=True, timeout=within_s, check=False)


def said(tmp_path: Path, *words: str) -> str:
    argv = [sys.executable, "-m", "manyhands", "task", *words]
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path / "home")}
    return subprocess.run(argv, cwd=tmp_path / "work", env=env, capture_output=True, text=True, check=True).stdout


def shown(tmp_path: Path, task: str) -> Any:
    return json.loads(said(tmp_path, "show", task, "-o", "json"))


@pytest.mark.parametrize("agent", [*AGENTS, "qwen-acp"])
def test_a_task_is_done_with_its_tokens_and_nothing_left_behind(
    tmp_path: Path, agent: str, accounts: list[Account]
) -> None:
    accounts.append(Account())
    done = run(tmp_path, agent, accounts[0], tasks=1)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "work" / "out-0.txt").read_text() == "done"
    log = next((tmp_path / "work" / ".manyhands").rglob("output.log")).read_text()
    assert "All done." in log
    assert "printf done > out-0.txt" in log
    assert "All done." in said(tmp_path, "log", "t0")
    assert ('{"update"' if agent == "qwen-acp" else '{"type"') in said(tmp_path, "log", "t0", "--raw")
    assert '{"type"' not in said(tmp_path, "log", "t0")
    assert (
        shutil.which("ps") is None
        or str(tmp_path) not in subprocess.run(["ps", "axww"], capture_output=True, text=True, check=True).stdout
    )


@pytest.mark.parametrize("agent", AGENTS)
def test_an_account_that_closes_for_a_while_costs_no_attempt(
    tmp_path: Path, agent: str, accounts: list[Account]
) -> None:
    """It closes after the third task and opens again: all is done, and hardly anything was begun in between."""
    accounts.append(Account(closes_after=6, closed_s=20.0))
    done = run(tmp_path, agent, accounts[0], tasks=12)
    assert done.returncode == 0, done.stdout + done.stderr
    assert all((tmp_path / "work" / f"out-{n}.txt").exists() for n in range(12))
    refused = accounts[0].model.asked.count("closed")
    assert refused >= 1
    attempts = {f"t{n}": [one["ending"] for one in shown(tmp_path, f"t{n}")["attempts"]] for n in range(12)}
    assert all(kinds[-1] == "done" for kinds in attempts.values())
    assert all(kinds[:-1] in ([], ["overloaded"]) for kinds in attempts.values()), attempts
    if agent != "qwen":  # which waits by itself, without a word
        assert 1 <= sum(len(kinds) - 1 for kinds in attempts.values()) <= 3, "only what was in flight already"
        resumed = (tmp_path / "work" / ".manyhands").rglob("said.txt")
        assert {file.read_text() for file in resumed} == {"continue"}


@pytest.mark.parametrize(
    ("agent", "mode", "kind", "marks"),
    [
        ("codex", "quota", "overloaded", {"quota", "needs_person"}),
        ("codex", "busy", "overloaded", set()),
        ("codex", "rate", "overloaded", {"rate_limited"}),
        ("codex", "auth", "overloaded", {"needs_person"}),
        ("codex", "context", "failed", {"permanent"}),
        ("codex", "drop", "overloaded", set()),
    ],
)
async def test_each_refusal_of_a_service_ends_as_what_it_is(
    tmp_path: Path, agent: str, mode: str, kind: str, marks: set[str], accounts: list[Account]
) -> None:
    accounts.append(Account())
    accounts[0].model.mode = lambda: mode
    ending = await one_attempt(tmp_path, agent, accounts[0])
    known = ("quota", "rate_limited", "needs_person", "permanent")
    assert (str(ending.kind), {name for name in known if getattr(ending, name)}) == (kind, marks), ending
    assert left_alive(tmp_path) == []


async def one_attempt(tmp_path: Path, agent: str, account: Account) -> Ending:
    """One attempt on the host that the table describes, without a dispatcher that would try again."""
    if not (PROGRAMS / agent.removesuffix("-acp")).exists():
        pytest.skip(f"{agent} is not installed in {PROGRAMS}; `make agents` installs it")
    workspace, home = tmp_path / "work", tmp_path / "home"
    workspace.mkdir()
    home.mkdir()
    host = tomllib.loads(host_table(agent, account.model.url, home))
    settings = AgentSettings(
        workspace=workspace,
        agent=host["agent"]["name"],
        run=tuple(host["agent"]["run"]),
        model=host.get("model", ""),
        args=tuple(host.get("args", ())),
        env={"TZ": "UTC", **host["env"]},
        idle_s=30.0,
    )
    desk = Desk(lambda s, e: AgentExecutor(settings, s, e), tmp_path / "attempts", settings.journal)
    ending = await desk.run(Task("t", prompt="Run `printf done > out.txt`"))
    await desk.executor.close()
    return ending
