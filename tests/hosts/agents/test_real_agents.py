"""The real programs, each with a home of its own and an environment built from nothing, against a scripted model."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from hosts.agents.real_hosts import ACP_AGENTS, AGENTS
from hosts.agents.real_runs import (
    Account,
    doomed_starts,
    left_alive,
    one_host,
    run,
    run_together,
    said,
    shown,
    tries_of,
)
from hosts.agents.refusal_endings import ENDINGS, SILENT, marks
from hosts.agents.scripted_model import TOKENS_IN, TOKENS_OUT
from manyhands.core.values.ending import EndingKind
from manyhands.core.values.task import Task

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("agents")]
#: For those that never get an answer: long enough for a start on a busy machine, in which all of them compute.
SILENT_S = 45.0
#: For the others: longer than any of them asks again before it says why, which is up to four minutes.
IDLE_S = 500.0
#: Those that say that they ask again, so that their host sees the load long before they give up.
SAY_RETRIES = ("gemini", "aider")


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
    """In one fresh home, several first starts of opencode fail on its database, so that is its default."""
    accounts.append(Account())
    done = run(tmp_path, "opencode", accounts[0], tasks=4, width="4")
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
    begun = [doomed_starts(tmp_path, f"t{n}", accounts[0]) for n in range(12)]
    assert max(begun) <= 1, begun
    assert tries_of(tmp_path) == [0] * 12, "no refusal was counted"
    resumed = (tmp_path / "work" / ".manyhands").rglob("said.txt")
    assert {file.read_text() for file in resumed} == {"continue"}
    assert os.listdir(temporary) == []
    assert left_alive(tmp_path) == []


#: Six that are wanted at once, as when a person starts six agents; and more than the clutch begins with.
SIX = "{ min = 1, start = 6, max = 6 }"


@pytest.mark.parametrize(("tasks", "width"), [(6, SIX), (12, "")], ids=["six-at-once", "twelve"])
def test_an_api_that_kills_every_burst_above_four_loses_at_most_one(
    tmp_path: Path, tasks: int, width: str, accounts: list[Account], temporary: Path
) -> None:
    accounts.append(Account())
    accounts[0].model.bears = 4
    done = run(tmp_path, "codex", accounts[0], tasks=tasks, width=width)
    assert done.returncode == 0, done.stdout + done.stderr
    attempts = [[one["ending"] for one in shown(tmp_path, f"t{n}")["attempts"]] for n in range(tasks)]
    assert all(kinds in (["done"], ["overloaded", "done"]) for kinds in attempts), attempts
    assert "busy" in accounts[0].model.asked
    assert os.listdir(temporary) == []


@pytest.mark.parametrize("agent", ["qwen-acp", "gemini-acp"])
async def test_eight_tasks_share_one_process(
    tmp_path: Path, agent: str, accounts: list[Account], temporary: Path
) -> None:
    accounts.append(Account())
    desk = one_host(tmp_path, agent, accounts[0], sessions=8)
    together = await run_together(desk, 8)
    assert [ending.kind for ending in together.endings] == [EndingKind.DONE] * 8, together.endings
    assert together.processes == 1
    assert all((tmp_path / "work" / f"out-{n}.txt").read_text() == "done" for n in range(8))
    assert len({ending.session for ending in together.endings}) == 8
    await desk.executor.close()
    assert left_alive(tmp_path) == []
    assert os.listdir(temporary) == []


@pytest.mark.parametrize(("agent", "mode"), ENDINGS, ids=["-".join(case) for case in ENDINGS])
async def test_each_refusal_of_a_service_ends_as_what_it_is(
    tmp_path: Path, agent: str, mode: str, accounts: list[Account], temporary: Path
) -> None:
    accounts.append(Account())
    accounts[0].model.mode = lambda: mode
    retried: list[int] = []
    expected = ENDINGS[agent, mode]
    idle_s = SILENT_S if expected == SILENT else IDLE_S
    desk = one_host(tmp_path, agent, accounts[0], retried=retried.append, idle_s=idle_s)
    attempt = desk.start(Task("t", prompt="Run `printf done > out.txt`"))
    ending = await desk.ending(attempt, within_s=600)
    assert (ending.kind, marks(ending)) == expected, ending
    assert not (tmp_path / "work" / "out.txt").exists()
    assert retried or mode != "busy" or agent not in SAY_RETRIES
    await desk.executor.close()
    assert accounts[0].model.asked
    assert left_alive(tmp_path) == []
    assert os.listdir(temporary) == []
