"""Attempts that ask a person: a command that waits for the answer, and what is in its files."""

import json
from pathlib import Path

import pytest

from hosts.landing.project import until
from manyhands.assembly import open_session
from manyhands.core.events import QuestionAnswered
from manyhands.core.state import Record
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.question import QuestionKind
from manyhands.core.values.task import Claims, Task, TaskState
from manyhands.engine.dispatcher import Dispatcher
from manyhands.engine.run_opening import opening
from manyhands.errors import Conflict
from manyhands.hosts.executors.asking import QUESTION_FILE, with_question
from manyhands.sources.config.config_reading import load_config
from manyhands.surfaces.verbs.ask_verbs import ask_person

ASKS = 'a=$($MANYHANDS_ASK "which   database?" --choice one --choice two) || exit 9; echo "got $a" >> heard; {then}'


def asking(id: str = "a", then: str = "true") -> Task:
    return Task(id, kind="shell", run=("sh", "-c", ASKS.replace("{then}", then)), claims=Claims())


async def open_run(dispatcher: Dispatcher, *tasks: Task) -> dict[str, Record]:
    await dispatcher.submit(*opening("r", dispatcher.clock.now(), tasks, "a plan"))
    return dispatcher.book.runs["r"].records


async def answer(dispatcher: Dispatcher, words: str) -> None:
    at = dispatcher.clock.now()
    await dispatcher.submit(QuestionAnswered(at, "r", "a", "which database?", words, "Ann"))


@pytest.mark.slow
async def test_a_command_waits_for_the_answer_and_a_second_attempt_knows_it(tmp_path: Path) -> None:
    (tmp_path / "manyhands.toml").write_text('[hosts.local]\ntype = "shell"\n[store]\ndurability = "crash"\n')
    async with open_session(load_config(tmp_path, environ={})) as dispatcher:
        records = await open_run(dispatcher, asking(then="test $(wc -l < heard) = 2"))
        await until(lambda: records["a"].question)
        question = records["a"].question
        assert question is not None
        assert (question.kind, question.text, question.choices) == (
            QuestionKind.QUESTION,
            "which database?",
            ("one", "two"),
        )
        assert records["a"].state is TaskState.RUNNING
        await answer(dispatcher, "two")
        await dispatcher.wait_settled("r")
        kinds = [tried.ending.kind for tried in records["a"].history or () if tried.ending]
        assert (kinds, records["a"].state) == ([EndingKind.FAILED, EndingKind.DONE], TaskState.DONE)
        assert (tmp_path / "heard").read_text().splitlines() == ["got two", "got two"], "the second was not asked"


def test_only_an_attempt_can_ask() -> None:
    with pytest.raises(Conflict, match="does not run inside one"):
        ask_person({}, "which database?")


@pytest.mark.parametrize(
    ("content", "asks"),
    [('{"text": "why?"}', "why?"), ('{"text": "  "}', None), ("[]", None), ('{"text": 3}', None), ("{", None)],
)
def test_what_stands_in_the_file_is_a_question_or_is_left_out(tmp_path: Path, content: str, asks: str | None) -> None:
    (tmp_path / QUESTION_FILE).write_text(content)
    (tmp_path / "output.log").touch()
    ending = with_question(Ending(EndingKind.DONE), tmp_path, tmp_path / "output.log")
    assert (ending.asks.text if ending.asks else None) == asks
    assert ending.needs_person == (asks is not None)
    assert ("is left out of account" in (tmp_path / "output.log").read_text()) == (asks is None)


def test_an_agent_that_can_be_resumed_is_told_to_end_its_turn_and_others_get_the_answer(tmp_path: Path) -> None:
    environ = {
        "MANYHANDS_QUESTION_FILE": str(tmp_path / QUESTION_FILE),
        "MANYHANDS_ANSWERS_FILE": str(tmp_path / "answers.json"),
    }
    reply = ask_person({**environ, "MANYHANDS_RESUMES": "1"}, "why?")
    assert (reply.answer, reply.told.startswith("Your question is recorded")) == (None, True)
    assert json.loads((tmp_path / QUESTION_FILE).read_text())["text"] == "why?"
    again = ask_person(environ, "why?", wait_s=0.0)
    assert (again.answer, again.told.startswith("There is no answer yet")) == (None, True)
    (tmp_path / "answers.json").write_text('{"why?": "because"}')
    assert ask_person(environ, " why? ").answer == "because"
