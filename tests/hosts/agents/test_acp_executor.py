"""Attempts over ACP, with an agent of our own as a real process."""

import json
import os
import secrets
import signal
import sys
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from hosts.executors.desk import Desk
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.task import Claims, Task
from manyhands.hosts.agents.agent_executor import AgentExecutor
from manyhands.hosts.agents.agent_settings import AgentSettings
from manyhands.hosts.agents.resuming import MEANS
from manyhands.hosts.executors.executor import Asked
from manyhands.sources.config.agent_config import AgentLimits

AGENT = Path(__file__).with_name("acp_agent.py")


class AcpStage:
    def __init__(self, tmp_path: Path) -> None:
        self.place = tmp_path
        self.workspace = tmp_path / "workspace"
        self.workspace.mkdir()
        self.home = tmp_path / "home"
        self.notes = self.home / ".cache" / "notes"
        self.notes.mkdir(parents=True)
        self.desks: list[Desk] = []

    def desk(self, asked: Asked = lambda attempt, question: None, **fields: Any) -> Desk:
        journal = f"test-{secrets.token_hex(8)}"
        settings = AgentSettings(
            workspace=self.workspace,
            journal=journal,
            agent="acp",
            run=(sys.executable, str(AGENT), str(self.notes)),
            env={"HOME": str(self.home)},
            **{"grace_s": 5.0, **fields},
        )
        make = partial(AgentExecutor, settings, asked=asked)
        self.desks.append(Desk(lambda s, e: make(s, e), self.place / "attempts", journal))
        return self.desks[-1]

    def given(self, method: str) -> list[dict[str, Any]]:
        file = self.notes / "given.jsonl"
        lines = file.read_text().splitlines() if file.exists() else []
        return [given for line in lines if (given := json.loads(line))["method"] == method]

    def prompts(self) -> list[str]:
        return [given["params"]["prompt"][0]["text"] for given in self.given("session/prompt")]


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[AcpStage]:
    stage = AcpStage(tmp_path)
    yield stage
    for desk in stage.desks:
        await desk.executor.close()
        assert desk.alive() == []


def asks(*lines: str, **fields: Any) -> Task:
    return Task("t", prompt="\n".join(lines), **fields)


def log_of(desk: Desk) -> str:
    file = desk.directory(1) / "output.log"
    return file.read_text() if file.exists() else ""


def command_of(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


async def test_a_turn_that_ends_well_is_done_with_its_words_tokens_and_cost(stage: AcpStage) -> None:
    desk = stage.desk()
    ending = await desk.run(asks("run printf hi > made", "write notes", "cost 0.25", "say All done.", "used 120 7"))
    assert (ending.kind, ending.result) == (EndingKind.DONE, "All done."), ending
    assert (ending.tokens_in, ending.tokens_out, ending.cost) == (120, 7, 0.25)
    assert ending.session == next(file.name for file in stage.notes.iterdir() if file.name != "given.jsonl")
    log = (desk.directory(1) / "output.log").read_text()
    assert log == f"→ execute printf hi > made\n→ edit {stage.workspace}/notes\nAll done.\n"
    assert "tool_call_update" in (desk.directory(1) / "agent.jsonl").read_text()
    assert ((stage.workspace / "made").read_text(), (stage.workspace / "notes").read_text()) == ("hi", "written")


@pytest.mark.parametrize(
    ("line", "kind", "marks"),
    [
        ('refuse 429 {"details": "Too many requests"}', EndingKind.OVERLOADED, {"rate_limited"}),
        ('refuse -32603 {"details": "503 the server is overloaded"}', EndingKind.OVERLOADED, set()),
        ('refuse -32000 {"details": "sign in first"}', EndingKind.OVERLOADED, {"needs_person"}),
        ('refuse -32603 {"errorKind": "billing_error", "details": "Credit is too low"}', EndingKind.OVERLOADED,
         {"quota", "needs_person"}),
        ('refuse -32603 {"codexErrorInfo": "usageLimitExceeded", "message": "You\'ve hit your usage limit"}',
         EndingKind.OVERLOADED, {"quota"}),
        ('refuse -32603 {"errorName": "ContextOverflowError"}', EndingKind.FAILED, {"permanent"}),
        ("refuse -32603 {}", EndingKind.FAILED, set()),
        ("stop max_turn_requests", EndingKind.FAILED, {"permanent"}),
        ("stop refusal", EndingKind.FAILED, set()),
        ("fail stream disconnected before completion: 429 Too Many Requests", EndingKind.OVERLOADED, {"rate_limited"}),
        ("die", EndingKind.FAILED, set()),
    ],
)  # fmt: skip
async def test_each_refusal_is_called_what_it_is(stage: AcpStage, line: str, kind: EndingKind, marks: set[str]) -> None:
    ending = await stage.desk().run(asks("say On it.", line))
    known = {"quota", "rate_limited", "needs_person", "permanent"}
    assert (ending.kind, {name for name in known if getattr(ending, name)}) == (kind, marks), ending


async def test_a_limit_that_names_its_end_says_until_when(stage: AcpStage) -> None:
    data = json.dumps({"errorKind": "rate_limit", "details": "You've hit your limit · resets in 2 hours"})
    ending = await stage.desk().run(asks(f"refuse -32603 {data}"))
    assert ending.quota
    assert ending.retry_after_s == 7200
    assert ending.detail.startswith("closed until ")


async def test_what_it_asks_for_is_allowed_where_it_may_write_and_nowhere_else(stage: AcpStage) -> None:
    outside = stage.place / "outside"
    desk = stage.desk()
    ending = await desk.run(asks("write inside", f"write {outside}", "say Done."))
    assert (ending.kind, ending.needs_person) == (EndingKind.FAILED, True)
    assert ending.detail.startswith(f"it was not allowed to do all it wanted (edit {outside}); ")
    assert (stage.workspace / "inside").exists()
    assert not outside.exists()
    assert "✗ was not allowed" in (desk.directory(1) / "output.log").read_text()
    claims = Claims(write=("a/**",))
    (stage.workspace / "a").mkdir()
    claimed = await stage.desk(confine="claims").run(asks("write a/1", "write b", claims=claims))
    assert claimed.detail.startswith(f"it was not allowed to do all it wanted (edit {stage.workspace}/b); ")
    assert (await stage.desk(confine="off").run(asks(f"write {outside}"))).kind is EndingKind.DONE


async def test_a_write_that_is_not_claimed_is_told_at_once(stage: AcpStage) -> None:
    desk = stage.desk()
    attempt = desk.start(asks("write a.py", "write b.py", "hang", claims=Claims(write=("a.py",))))
    await desk.until(lambda: "b.py" in log_of(desk))
    assert "! writes b.py, which its task does not claim\n" in log_of(desk)
    assert "writes a.py" not in log_of(desk)
    desk.executor.stop(attempt)
    await desk.ending(attempt)


async def test_the_kernel_keeps_its_commands_inside_too(stage: AcpStage) -> None:
    await stage.desk().run(asks(f"run touch {stage.place}/outside; touch inside"))
    assert (stage.workspace / "inside").exists()
    assert not (stage.place / "outside").exists()


async def test_a_prompt_that_looks_like_a_command_of_the_program_is_a_prompt(stage: AcpStage) -> None:
    await stage.desk().run(asks("/help", "say Done."))
    assert stage.prompts() == [f"Task:\n\n/help\nsay Done.\n\n{MEANS}"]


async def test_a_prompt_of_a_megabyte_arrives(stage: AcpStage) -> None:
    text = f"say Done.\n{'x' * 1_000_000}"
    assert (await stage.desk().run(Task("t", prompt=text))).kind is EndingKind.DONE
    assert stage.prompts() == [f"{text}\n\n{MEANS}"]


async def test_a_session_is_resumed_and_what_it_said_before_is_not_told_again(stage: AcpStage) -> None:
    desk = stage.desk()
    first = await desk.run(asks("cost 1.0", 'refuse 429 {"details": "Too many requests"}'))
    assert (first.cost, first.rate_limited) == (1.0, True)
    second = await desk.run(asks("say no"), number=2, last=first)
    assert second.session == first.session
    assert stage.prompts()[1] == "continue"
    assert "before" not in (desk.directory(2) / "output.log").read_text()


async def test_a_session_that_is_forgotten_begins_afresh(stage: AcpStage) -> None:
    desk = stage.desk()
    first = await desk.run(asks("say Hm.", 'refuse 429 {"details": "Too many requests"}'))
    (stage.notes / first.session).unlink()
    second = await desk.run(asks("say Done."), number=2, last=first)
    assert (second.kind, second.result) == (EndingKind.DONE, "Done.")
    assert second.session != first.session


@pytest.mark.parametrize("sessions", [1, 4])
async def test_a_stopped_attempt_is_cancelled_with_its_tool(stage: AcpStage, sessions: int) -> None:
    (stage.workspace / "a").mkdir()
    desk = stage.desk(sessions=sessions)
    attempt = desk.start(asks("run touch begun; sleep 1000", cwd="a"))
    await desk.until(lambda: (stage.workspace / "a" / "begun").exists())
    desk.executor.stop(attempt)
    ending = await desk.ending(attempt)
    assert (ending.kind, bool(ending.session)) == (EndingKind.CANCELLED, True)
    assert len(stage.given("session/cancel")) == 1
    assert not [pid for pid in desk.alive() if b"sleep" in command_of(pid)]


async def test_a_silent_agent_times_out(stage: AcpStage) -> None:
    ending = await stage.desk(idle_s=1.0).run(asks("say Hm.", "hang"))
    assert (ending.kind, ending.detail) == (EndingKind.TIMED_OUT, "silent for 1 s")


async def test_one_that_is_silent_after_a_refusal_was_refused(stage: AcpStage) -> None:
    """That it is asked to stop then, and answers that it did, does not hide the refusal."""
    ending = await stage.desk(idle_s=1.0).run(asks("retry 429", "retry 429", "hang"))
    assert (ending.kind, ending.detail) == (EndingKind.OVERLOADED, "asked again twice, then silent for 1 s")


async def test_a_limit_ends_the_turn_with_that_reason(stage: AcpStage) -> None:
    ending = await stage.desk(limits=AgentLimits(cost=1.0)).run(asks("cost 2.5", "hang"))
    assert (ending.kind, ending.detail) == (EndingKind.FAILED, "reached its limit of 1 in cost")
    assert ending.cost == 2.5


async def test_a_program_that_is_not_there_is_named(stage: AcpStage) -> None:
    settings = AgentSettings(workspace=stage.workspace, agent="acp", run=("no-such-agent",))
    desk = Desk(lambda s, e: AgentExecutor(settings, s, e), stage.place / "others", settings.journal)
    ending = await desk.run(asks("say Hm."))
    assert "`no-such-agent` not found" in ending.detail
    await desk.executor.close()


async def test_attempts_share_a_process_and_each_works_in_its_own_place(stage: AcpStage) -> None:
    for n in range(9):
        (stage.workspace / str(n)).mkdir()
    desk = stage.desk(sessions=4)
    attempts = [desk.start(asks("hang" if n == 8 else f"run printf {n} > made", cwd=str(n))) for n in range(9)]
    endings = [await desk.ending(attempt) for attempt in attempts[:8]]
    assert {ending.kind for ending in endings} == {EndingKind.DONE}
    assert [(stage.workspace / str(n) / "made").read_text() for n in range(8)] == [str(n) for n in range(8)]
    assert len({ending.session for ending in endings}) == 8
    await desk.until(lambda: len(stage.prompts()) == 9)
    assert len({given["pid"] for given in stage.given("session/prompt")}) == 3
    assert not any("MANYHANDS_" in prompt for prompt in stage.prompts()), "no such variable is in a shared process"
    desk.executor.stop(attempts[8])
    assert (await desk.ending(attempts[8])).kind is EndingKind.CANCELLED


async def test_an_idle_process_serves_the_next_attempt(stage: AcpStage) -> None:
    desk = stage.desk(sessions=2)
    for _ in range(3):
        assert (await desk.run(asks("say Done."))).kind is EndingKind.DONE
    assert len(stage.given("initialize")) == 1
    assert len(stage.given("session/close")) == 3


async def test_the_death_of_a_shared_process_is_lost_for_each_and_the_culprit_dies_alone(stage: AcpStage) -> None:
    desk = stage.desk(sessions=4)
    others = [desk.start(asks("hang")) for _ in range(3)]
    await desk.until(lambda: len(stage.prompts()) == 3)
    culprit = await desk.run(asks("die"))
    endings = [culprit, *[await desk.ending(attempt) for attempt in others]]
    assert {ending.kind for ending in endings} == {EndingKind.LOST}
    expected = "the process that it shared with others died (exit 3: out of luck)"
    assert {ending.detail for ending in endings} == {expected}
    again = await desk.run(asks("say Hm.", "die"), last=Ending(EndingKind.LOST, "x"))
    assert again.kind is EndingKind.FAILED


async def test_one_that_does_not_hear_a_stop_takes_its_process_with_it(stage: AcpStage) -> None:
    desk = stage.desk(sessions=4, grace_s=0.5)
    deaf, other = desk.start(asks("deaf")), desk.start(asks("hang"))
    await desk.until(lambda: len(stage.prompts()) == 2)
    desk.executor.stop(deaf)
    assert (await desk.ending(deaf)).kind is EndingKind.CANCELLED
    assert (await desk.ending(other)).kind is EndingKind.LOST


async def test_a_process_is_renewed_now_and_then(stage: AcpStage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("manyhands.hosts.agents.acp_pool._SESSIONS_OF_PROCESS_MAX", 2)
    desk = stage.desk(sessions=2)
    for _ in range(5):
        assert (await desk.run(asks("say Done."))).kind is EndingKind.DONE
    assert len(stage.given("initialize")) == 3


async def test_a_process_that_is_killed_from_outside_is_seen(stage: AcpStage) -> None:
    desk = stage.desk()
    attempt = desk.start(asks("hang"))
    await desk.until(lambda: stage.prompts())
    os.kill(stage.given("session/prompt")[0]["pid"], signal.SIGKILL)
    ending = await desk.ending(attempt)
    assert (ending.kind, ending.detail) == (EndingKind.FAILED, "killed by signal 9 (out of memory?)")
