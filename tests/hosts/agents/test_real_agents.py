"""The real programs, each with a home of its own and an environment built from nothing, against a scripted model."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hosts.agents.real_hosts import ACP_AGENTS, AGENTS, as_toml, host_table
from hosts.agents.scripted_model import TOKENS_IN, TOKENS_OUT, ScriptedModel
from hosts.executors.desk import Desk
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.task import Task
from manyhands.hosts.agents.agent_executor import AgentExecutor
from manyhands.hosts.agents.agent_settings import AgentSettings

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("agents")]
OVER, FAILED, LATE = EndingKind.OVERLOADED, EndingKind.FAILED, EndingKind.TIMED_OUT
#: How an attempt ends when its service does nothing else than this: the kind, and which of its marks are set.
#: `retries`: the program asks again for minutes by itself, and what counts is that this is seen as load meanwhile.
SILENT = (LATE, set[str]())  # it waits and asks again without a word, or waits without end
BUSY = (OVER, set[str]())
RATE = (OVER, {"rate_limited"})
CLOSED = (OVER, {"quota"})
BILLING = (OVER, {"quota", "needs_person"})
AUTH = (OVER, {"needs_person"})
PERMANENT = (FAILED, {"permanent"})
RETRIES = "retries"
MODES = ("rate", "quota", "busy", "auth", "context", "drop", "hang", "stall")
_MATRIX: dict[str, tuple[tuple[EndingKind, set[str]] | str, ...]] = {
    "codex": (RATE, BILLING, BUSY, AUTH, PERMANENT, BUSY, SILENT, SILENT),
    "claude": (RATE, BILLING, BUSY, AUTH, PERMANENT, BUSY, SILENT, SILENT),
    "qwen": (RATE, BILLING, BUSY, AUTH, PERMANENT, BUSY, SILENT, SILENT),
    "gemini": (RETRIES, CLOSED, RETRIES, AUTH, PERMANENT, BUSY, SILENT, SILENT),
    "opencode": (RATE, SILENT, SILENT, AUTH, PERMANENT, SILENT, SILENT, SILENT),
    "aider": (RETRIES, RETRIES, RETRIES, AUTH, PERMANENT, RETRIES, SILENT, SILENT),
    "qwen-acp": (RATE, RATE, BUSY, AUTH, PERMANENT, BUSY, SILENT, SILENT),
    "gemini-acp": (SILENT, CLOSED, SILENT, AUTH, PERMANENT, BUSY, SILENT, SILENT),
    "opencode-acp": (RATE, SILENT, SILENT, AUTH, PERMANENT, SILENT, SILENT, SILENT),
}
MATRIX = {(agent, mode): ends for agent, row in _MATRIX.items() for mode, ends in zip(MODES, row, strict=True)}
MARKS = ("quota", "rate_limited", "needs_person", "permanent")
#: For those that never get an answer: long enough for a start on a busy machine, in which all of them compute.
SILENT_S = 12.0
#: For the others: longer than any of them waits before it asks again.
IDLE_S = 150.0


class Account:
    """Closed for a while after so many requests; a mode of its own at first."""

    def __init__(self, closes_after: int | None = None, closed_s: float = 20.0, first: str = "") -> None:
        self.model = ScriptedModel(self._mode)
        self._closes_after = closes_after
        self._closed_s = closed_s
        self._first = [first] if first else []

    def _mode(self) -> str:
        if self._first:
            return self._first.pop()
        if self._closes_after is not None and len(self.model.asked) >= self._closes_after:
            self._closes_after, self.model.opens_at = None, time.time() + self._closed_s
        return "closed" if time.time() < self.model.opens_at else "ok"


@pytest.fixture
def accounts() -> Iterator[list[Account]]:
    made: list[Account] = []
    yield made
    for account in made:
        account.model.close()


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where programs put their temporary files. The path is short, because a socket's path is."""
    place = Path(tempfile.mkdtemp(prefix="t"))
    monkeypatch.setenv("TMPDIR", str(place))
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


def left_alive(tmp_path: Path) -> list[str]:
    """The processes that have something of this test on their command line."""
    if shutil.which("ps") is None:
        return []
    listed = subprocess.run(["ps", "axww"], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if str(tmp_path) in line]


def run(
    tmp_path: Path, agent: str, account: Account, tasks: int, width: str = "3", more: str = ""
) -> subprocess.CompletedProcess[str]:
    workspace, home = tmp_path / "work", tmp_path / "home"
    workspace.mkdir()
    home.mkdir()
    table = as_toml(host_table(agent, account.model.url, home)) + more
    (workspace / "manyhands.toml").write_text(f"[hosts.{agent}]\n{table}" + (f"width = {width}\n" if width else ""))
    rows = [
        {"id": f"t{n}", "prompt": f"Run `printf done > out-{n}.txt`", "claims": {"write": [f"out-{n}.txt"]}}
        for n in range(tasks)
    ]
    (workspace / "plan.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    env = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": str(home), "TZ": "Europe/Berlin"}
    env |= {"TMPDIR": tempfile.gettempdir()}
    argv = [sys.executable, "-m", "manyhands", "run", "plan.jsonl"]
    return subprocess.run(argv, cwd=workspace, env=env, capture_output=True, text=True, timeout=400.0, check=False)


def said(tmp_path: Path, *words: str) -> str:
    argv = [sys.executable, "-m", "manyhands", "task", *words]
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path / "home")}
    return subprocess.run(argv, cwd=tmp_path / "work", env=env, capture_output=True, text=True, check=True).stdout


def shown(tmp_path: Path, task: str) -> Any:
    return json.loads(said(tmp_path, "show", task, "-o", "json"))


@pytest.mark.parametrize("agent", [*AGENTS, *ACP_AGENTS])
def test_a_task_is_done_with_its_tokens_and_nothing_left_behind(
    tmp_path: Path, agent: str, accounts: list[Account], temporary: Path
) -> None:
    accounts.append(Account())
    done = run(tmp_path, agent, accounts[0], tasks=1)
    assert done.returncode == 0, done.stdout + done.stderr
    work = tmp_path / "work"
    assert (work / "out-0.txt").read_text().strip() == "done"
    assert {file.name for file in work.iterdir()} == {"out-0.txt", "manyhands.toml", "plan.jsonl", ".manyhands"}
    assert os.listdir(temporary) == []
    log = said(tmp_path, "log", "t0")
    assert "All done." in log or agent == "aider"
    assert "out-0.txt" in log
    raw = said(tmp_path, "log", "t0", "--raw")
    assert ("Tokens:" if agent == "aider" else '{"update"' if agent in ACP_AGENTS else '{"type"') in raw
    assert '{"type"' not in log
    attempt = shown(tmp_path, "t0")["attempts"][0]
    counted = agent != "aider"  # which counts for itself
    assert attempt["tokens_in"] >= (TOKENS_IN if counted else 100)
    assert attempt["tokens_out"] >= (TOKENS_OUT if counted else 1)
    assert left_alive(tmp_path) == []


def test_first_starts_at_once_do_not_collide_in_homes_of_their_own(
    tmp_path: Path, accounts: list[Account], temporary: Path
) -> None:
    """In one fresh home, several first starts of opencode fail on its database."""
    accounts.append(Account())
    done = run(tmp_path, "opencode", accounts[0], tasks=4, width="4", more='home = "own"\n')
    assert done.returncode == 0, done.stdout + done.stderr
    attempts = [[one["ending"] for one in shown(tmp_path, f"t{n}")["attempts"]] for n in range(4)]
    assert attempts == [["done"]] * 4
    homes = tmp_path / "work" / ".manyhands" / "homes" / "opencode"
    assert sorted(home.name for home in homes.iterdir()) == ["1", "2", "3", "4"]
    assert not list((tmp_path / "home").rglob("opencode.db")), "the person's own home is left alone"
    assert os.listdir(temporary) == []


@pytest.mark.parametrize("mode", ["rate", "closed"])
@pytest.mark.parametrize("agent", [*AGENTS, *ACP_AGENTS])
def test_a_refusal_that_passes_costs_no_attempt(
    tmp_path: Path, agent: str, mode: str, accounts: list[Account], temporary: Path
) -> None:
    """The service refuses once, or is closed for some seconds: whoever asks again, the program or we, it is done."""
    accounts.append(Account(first="rate") if mode == "rate" else Account(closes_after=0, closed_s=8.0))
    done = run(tmp_path, agent, accounts[0], tasks=1)
    assert done.returncode == 0, done.stdout + done.stderr
    assert accounts[0].model.asked[0] == mode
    assert (tmp_path / "work" / "out-0.txt").read_text().strip() == "done"
    *earlier, last = shown(tmp_path, "t0")["attempts"]
    assert last["ending"] == "done"
    assert last["tokens_out"] >= 1
    assert [one["ending"] for one in earlier] in ([], ["overloaded"])
    if earlier and mode == "closed":
        begun = last["started_at"]
        assert begun >= accounts[0].model.opens_at - 1, "it was not started into the closed account"
    assert os.listdir(temporary) == []
    assert left_alive(tmp_path) == []


@pytest.mark.parametrize("agent", ["codex", "claude", "gemini"])
def test_an_account_that_closes_for_a_while_costs_no_attempt(
    tmp_path: Path, agent: str, accounts: list[Account], temporary: Path
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
    assert 1 <= sum(len(kinds) - 1 for kinds in attempts.values()) <= 3, "only what was in flight already"
    resumed = (tmp_path / "work" / ".manyhands").rglob("said.txt")
    assert {file.read_text() for file in resumed} == {"continue"}
    assert os.listdir(temporary) == []
    assert left_alive(tmp_path) == []


def test_an_api_that_kills_every_burst_above_four_loses_at_most_one(
    tmp_path: Path, accounts: list[Account], temporary: Path
) -> None:
    accounts.append(Account())
    accounts[0].model.bears = 4
    done = run(tmp_path, "codex", accounts[0], tasks=12, width="")
    assert done.returncode == 0, done.stdout + done.stderr
    attempts = [[one["ending"] for one in shown(tmp_path, f"t{n}")["attempts"]] for n in range(12)]
    assert all(kinds in (["done"], ["overloaded", "done"]) for kinds in attempts), attempts
    assert "busy" in accounts[0].model.asked
    assert os.listdir(temporary) == []


@pytest.mark.parametrize(("agent", "mode"), MATRIX, ids=["-".join(case) for case in MATRIX])
async def test_each_refusal_of_a_service_ends_as_what_it_is(
    tmp_path: Path, agent: str, mode: str, accounts: list[Account], temporary: Path
) -> None:
    accounts.append(Account())
    accounts[0].model.mode = lambda: mode
    retried: list[int] = []
    expected = MATRIX[agent, mode]
    idle_s = SILENT_S if expected == SILENT else IDLE_S
    desk = one_host(tmp_path, agent, accounts[0], retried.append, idle_s)
    attempt = desk.start(Task("t", prompt="Run `printf done > out.txt`"))
    if isinstance(expected, str):
        await desk.until(lambda: bool(retried), within_s=240)
        desk.executor.stop(attempt)
        assert (await desk.ending(attempt, within_s=240)).kind is EndingKind.CANCELLED
    else:
        ending = await desk.ending(attempt, within_s=240)
        assert (ending.kind, marks(ending)) == expected, ending
        assert not (tmp_path / "work" / "out.txt").exists()
    await desk.executor.close()
    assert accounts[0].model.asked
    assert left_alive(tmp_path) == []
    assert os.listdir(temporary) == []


def marks(ending: Ending) -> set[str]:
    return {name for name in MARKS if getattr(ending, name)}


def one_host(tmp_path: Path, agent: str, account: Account, retried: Callable[[int], None], idle_s: float) -> Desk:
    """The host that the table describes, without a dispatcher that would try again."""
    workspace, home = tmp_path / "work", tmp_path / "home"
    workspace.mkdir()
    home.mkdir()
    host = host_table(agent, account.model.url, home)
    settings = AgentSettings(
        workspace=workspace,
        agent=host["agent"]["name"],
        run=tuple(host["agent"]["run"]),
        model=host.get("model", ""),
        args=tuple(host.get("args", ())),
        env=host["env"],
        idle_s=idle_s,
        sessions=host.get("sessions", 1),
    )
    return Desk(lambda s, e: AgentExecutor(settings, s, e, retried=retried), tmp_path / "attempts", settings.journal)
