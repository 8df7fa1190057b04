"""Permissions over ACP that a person decides: asked while the attempt runs, and answered in its place."""

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from hosts.agents.test_acp_executor import AGENT, AcpStage, asks, log_of, stage
from hosts.executors.desk import Desk
from manyhands.core.values.ending import EndingKind
from manyhands.core.values.question import Answer, Guidance, Question
from manyhands.core.values.task import TaskState
from manyhands.hosts.agents.acp_permissions import AcpPermissions
from manyhands.hosts.agents.agent_executor import AgentExecutor
from surfaces.cli.console import Console, console

__all__ = ["console", "stage"]

CHOICES = ("allow", "allow always", "reject")


class Person:
    """Answers what the attempts of a desk ask."""

    def __init__(self, stage: AcpStage, **fields: Any) -> None:
        self.asked: list[tuple[int, Question]] = []
        self.desk: Desk = stage.desk(
            permissions="ask", asked=lambda attempt, question: self.asked.append((attempt, question)), **fields
        )

    async def question(self, number: int) -> Question:
        await self.desk.until(lambda: len(self.asked) >= number)
        return self.asked[number - 1][1]

    def answer(self, attempt: int, words: str) -> None:
        executor = self.desk.executor
        assert isinstance(executor, AgentExecutor)
        executor.answer(attempt, words)


async def test_a_person_decides_what_it_may_do_and_it_waits_in_its_place(stage: AcpStage) -> None:
    person = Person(stage)
    attempt = person.desk.start(asks("run printf hi > made", "write one", "say Done."))
    first = await person.question(1)
    assert first.text.startswith("May it execute: printf hi > made? (request ")
    assert first.choices == CHOICES
    assert not (stage.workspace / "made").exists()
    person.answer(attempt, "Allow")
    second = await person.question(2)
    assert second.text.startswith(f"May it edit: {stage.workspace}/one? (request ")
    assert (stage.workspace / "made").exists()
    person.answer(attempt, "reject")
    ending = await person.desk.ending(attempt)
    assert (ending.kind, ending.result) == (EndingKind.DONE, "Done."), "it was a person who did not allow it"
    assert not (stage.workspace / "one").exists()
    assert "! a person answered `reject`: May it edit" in log_of(person.desk)


async def test_words_that_are_no_choice_reject_it(stage: AcpStage) -> None:
    person = Person(stage)
    attempt = person.desk.start(asks("write one"))
    await person.question(1)
    person.answer(attempt, "put it into docs")
    assert (await person.desk.ending(attempt)).kind is EndingKind.DONE
    assert not (stage.workspace / "one").exists()


async def test_nobody_is_asked_what_the_place_does_not_allow_anyway(stage: AcpStage) -> None:
    person = Person(stage)
    ending = await person.desk.run(asks(f"write {stage.place / 'outside'}"))
    assert (ending.kind, ending.needs_person, person.asked) == (EndingKind.FAILED, True, [])


async def test_the_same_request_is_not_asked_again_by_a_later_attempt(stage: AcpStage) -> None:
    person = Person(stage)
    attempt = person.desk.start(asks("write one"))
    question = await person.question(1)
    person.answer(attempt, "allow")
    await person.desk.ending(attempt)
    (stage.workspace / "one").unlink()
    known = Guidance(answers=(Answer(question.text, "allow"),))
    assert (await person.desk.run(asks("write one"), 2, guidance=known)).kind is EndingKind.DONE
    assert (stage.workspace / "one").exists()
    assert len(person.asked) == 1


@pytest.mark.parametrize("sessions", [1, 4])
async def test_an_attempt_that_waits_for_an_answer_can_be_stopped(stage: AcpStage, sessions: int) -> None:
    person = Person(stage, sessions=sessions)
    attempt = person.desk.start(asks("write one"))
    await person.question(1)
    person.desk.executor.stop(attempt)
    assert (await person.desk.ending(attempt)).kind is EndingKind.CANCELLED
    assert not (stage.workspace / "one").exists()
    person.answer(attempt, "allow")  # too late, and nobody minds


async def test_waiting_for_a_person_is_not_silence(stage: AcpStage) -> None:
    person = Person(stage, idle_s=1.0)
    waiting = person.desk.start(asks("write one"))
    await person.question(1)
    for _ in range(5):  # each is silent for 1 s, and a tool that waits for its permission may be for 4 s
        assert (await person.desk.run(asks("hang"))).kind is EndingKind.TIMED_OUT
    assert person.desk.endings(waiting) == []
    person.answer(waiting, "allow")
    assert (await person.desk.ending(waiting)).kind is EndingKind.DONE


def test_calls_that_differ_are_never_the_same_question() -> None:
    def words(**call: Any) -> str:
        question = AcpPermissions(Path("/w"), None, "ask").question({"toolCall": call})
        assert question is not None
        return question.text

    long = "x" * 5_000
    calls = [
        {"kind": "execute", "rawInput": {"command": "echo  a"}},
        {"kind": "execute", "rawInput": {"command": "echo a"}},
        {"kind": "execute", "rawInput": {"command": f"{long}; true"}},
        {"kind": "execute", "rawInput": {"command": f"{long}; false"}},
        {"kind": "edit", "locations": [{"path": "/w/a"}], "content": [{"path": "/w/a", "newText": "1"}]},
        {"kind": "edit", "locations": [{"path": "/w/a"}], "content": [{"path": "/w/a", "newText": "2"}]},
        {},
    ]
    assert len({words(**call) for call in calls}) == len(calls)
    assert words(toolCallId="1", title="t") == words(toolCallId="2", title="t")
    assert "(cut; " in words(**calls[2])


@pytest.mark.slow
def test_a_permission_is_in_the_inbox_and_its_command_lets_the_task_continue(console: Console) -> None:
    notes = console.directory / "home" / ".cache" / "notes"
    notes.mkdir(parents=True)
    program = json.dumps([sys.executable, str(AGENT), str(notes)])
    console.config(
        f'[hosts.agent]\ntype = "agent"\nagent = {{ name = "acp", run = {program} }}\n'
        f'permissions = "ask"\nenv = {{ HOME = "{console.directory / "home"}" }}\n'
    )
    console.plan([{"id": "t", "prompt": "write made", "timeout": 300}])
    live = console.start("run", "plan.jsonl")

    def inbox() -> list[dict[str, Any]]:
        return list(console.run("inbox", "--output", "json").json)

    live.wait_until(inbox, "a question")
    (item,) = inbox()
    assert (item["waits_for"], item["name"]) == ("question", "t")
    assert item["why"].startswith(f"May it edit: {console.directory}/made? (request ")
    assert item["why"].endswith("(allow, allow always, reject)")
    assert not (console.directory / "made").exists()
    assert console.run(*shlex.split(item["command"])[1:]).code == 0
    assert live.end().code == 0
    assert (console.directory / "made").exists()
    assert console.book().runs["plan-1"].records["t"].state is TaskState.DONE
    assert inbox() == []
