"""`ask`, from inside an attempt: a question to a person, and the answer if there is one."""

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from manyhands.errors import Conflict, UsageError
from manyhands.hosts.executors.asking import (
    ANSWERS_VARIABLE,
    QUESTION_VARIABLE,
    RESUMES_VARIABLE,
    AskedInFile,
    as_asked,
)
from manyhands.hosts.executors.report_files import UnusableReport, read_report
from manyhands.readers.plain_file import write_plain

LOOK_S = 0.2
#: What an agent that can be resumed is told.
END_YOUR_TURN = (
    "Your question is recorded for a person. End your turn now, and do not guess the answer: "
    "you will be resumed with it."
)
ASK_AGAIN = "There is no answer yet. Ask the same question again to wait for it."


class PersonsReply(Struct):
    question: str
    answer: str | None  # None: `told` says what to do
    told: str = ""


def ask_person(
    environ: Mapping[str, str], question: str, choices: Sequence[str] = (), wait_s: float | None = None
) -> PersonsReply:
    """Record the question, and wait for the answer unless the agent is resumed with it. `wait_s` bounds the wait."""
    file, answers = environ.get(QUESTION_VARIABLE), environ.get(ANSWERS_VARIABLE)
    if not file or not answers:
        raise Conflict(
            "only an attempt can ask, and this does not run inside one",
            'a task asks with `$MANYHANDS_ASK "which database?"`',
        )
    text = as_asked(question)
    if not text:
        raise UsageError("the question is empty", '`manyhands ask "which database?" --choice one --choice two`')
    if len(choices) > 20:
        raise UsageError(f"{len(choices)} choices are too many", "give at most 20")
    deadline = None if wait_s is None else time.monotonic() + wait_s
    answer = _answer_in(answers, text)
    if answer is None:
        _record(Path(file), AskedInFile(text, tuple(choices)))
        if environ.get(RESUMES_VARIABLE):
            return PersonsReply(text, None, END_YOUR_TURN)
    while answer is None and (deadline is None or time.monotonic() < deadline):
        time.sleep(LOOK_S)
        answer = _answer_in(answers, text)
    return PersonsReply(text, answer, "" if answer is not None else ASK_AGAIN)


def _record(file: Path, question: AskedInFile) -> None:
    """Written beside and moved, so that nobody reads half of it."""
    new = file.with_name(f".{file.name}.new")
    new.unlink(missing_ok=True)
    write_plain(new, msgspec.json.encode(question))
    os.replace(new, file)


def _answer_in(file: str, question: str) -> str | None:
    try:
        content = read_report(Path(file))
        return None if content is None else msgspec.json.decode(content, type=dict[str, str]).get(question)
    except (UnusableReport, ValueError, RecursionError):
        return None
