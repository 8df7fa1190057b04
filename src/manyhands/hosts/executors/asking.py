"""Questions of attempts: two files beside the output of the attempt, and a desk that looks at them while it runs.

`manyhands ask` writes the question, and waits until the answers have it. If the agent can be resumed it does not wait:
the attempt ends with its question, and the next one is told the answer.
"""

import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.question import Question, QuestionKind, answers_in
from manyhands.hosts.executors.executor import Asked
from manyhands.hosts.executors.output_text import clean, one_line
from manyhands.hosts.executors.report_files import UnusableReport, note_unusable, read_report
from manyhands.readers.plain_file import write_plain

QUESTION_FILE, ANSWERS_FILE = "question.json", "answers.json"
QUESTION_VARIABLE, ANSWERS_VARIABLE = "MANYHANDS_QUESTION_FILE", "MANYHANDS_ANSWERS_FILE"
#: The agent is told to end its turn, because it can be resumed with the answer.
RESUMES_VARIABLE = "MANYHANDS_RESUMES"
TEXT_CHARACTERS_MAX = 2_000
#: Time between two looks at the files of the running attempts.
LOOK_S = 0.25
#: More questions of one attempt are not heard: each is an event that a person has to read.
QUESTIONS_MAX = 50


class AskedInFile(Struct, frozen=True):
    text: Annotated[str, Meta(min_length=1)]
    choices: Annotated[tuple[str, ...], Meta(max_length=20)] = ()


def question_variables(directory: Path) -> dict[str, str]:
    """How an attempt asks. `-P`: what the attempt has in its directory must not pass for manyhands."""
    return {
        "MANYHANDS_ASK": f"{sys.executable} -P -m manyhands ask",
        QUESTION_VARIABLE: str(directory / QUESTION_FILE),
        ANSWERS_VARIABLE: str(directory / ANSWERS_FILE),
    }


def resuming_variables(resumes: bool) -> dict[str, str]:
    return {RESUMES_VARIABLE: "1"} if resumes else {}


def as_asked(text: str) -> str:
    """The same words are the same question, however they are spaced."""
    return clean(" ".join(text.split()))[:TEXT_CHARACTERS_MAX]


def read_question(directory: Path) -> Question | None:
    """What the attempt asks, if it asks. Raises `UnusableReport` or ValueError if the file is something else."""
    content = read_report(directory / QUESTION_FILE)
    if content is None:
        return None
    said = msgspec.json.decode(content, type=AskedInFile)
    text = as_asked(said.text)
    if not text:
        raise ValueError("the question is empty")
    return Question(QuestionKind.QUESTION, text, tuple(one_line(choice) for choice in said.choices))


def with_question(ending: Ending, directory: Path, log: Path) -> Ending:
    """The ending of an attempt that ended by itself: if it has asked and was not answered, it needs a person."""
    try:
        question = read_question(directory)
    except (UnusableReport, ValueError, RecursionError) as error:
        note_unusable(log, QUESTION_FILE, error)
        return ending
    if question is None:
        return ending
    detail = f"asks: {one_line(question.text)}"
    return replace(
        ending, kind=EndingKind.FAILED, detail=detail, permanent=False, needs_person=True, asks=question, result=""
    )


class _Asking(Struct):
    directory: Path
    answers: dict[str, str]
    hears: bool  # what it asks in its file while it runs
    one_at_a_time: asyncio.Lock
    open: str = ""  # the question that was passed on and is not answered
    reply: asyncio.Future[str] | None = None  # who waits for the answer, if it was not asked in the file
    asked: int = 0


class AskDesk:
    """Passes on what the running attempts of one executor ask, and brings them the answers."""

    def __init__(self, asked: Asked = lambda attempt, question: None) -> None:
        self._tell = asked
        self._watched: dict[int, _Asking] = {}
        self._looking: asyncio.Task[None] | None = None

    @contextmanager
    def watching(self, order: StartAttempt, directory: Path, hears: bool = True) -> Iterator[None]:
        """While the attempt runs. What earlier attempts were answered is there from the start.

        An agent that can be resumed is not heard while it runs: it ends its turn, and its question is in the ending.
        """
        answers = {one.question: one.words for one in answers_in(order.guidance)}
        asking = self._watched[order.attempt] = _Asking(directory, answers, hears, asyncio.Lock())
        if answers:
            _write_answers(asking)
        if hears and self._looking is None:
            self._looking = asyncio.create_task(self._look())
        try:
            yield
        finally:
            del self._watched[order.attempt]

    async def ask(self, attempt: int, question: Question) -> str | None:
        """What a person answers to a running attempt. None: it has asked too often. May be cancelled."""
        asking = self._watched[attempt]
        async with asking.one_at_a_time:
            known = asking.answers.get(question.text)
            if known is not None or asking.asked >= QUESTIONS_MAX:
                return known
            asking.open, asking.reply = question.text, asyncio.get_running_loop().create_future()
            asking.asked += 1
            self._tell(attempt, question)
            try:
                return await asking.reply
            finally:
                asking.open, asking.reply = "", None

    def is_open(self, attempt: int) -> bool:
        asking = self._watched.get(attempt)
        return asking is not None and bool(asking.open)

    def answer(self, attempt: int, words: str) -> None:
        asking = self._watched.get(attempt)
        if asking is None or not asking.open:
            return
        if asking.reply is None:
            self._answer(asking, asking.open, words)
        elif not asking.reply.done():
            asking.answers[asking.open] = words
            asking.reply.set_result(words)

    def _answer(self, asking: _Asking, question: str, words: str) -> None:
        asking.answers[question] = words
        asking.open = ""
        with suppress(OSError):  # first the question goes: an attempt that ends now has been answered
            (asking.directory / QUESTION_FILE).unlink(missing_ok=True)
        _write_answers(asking)

    async def _look(self) -> None:
        while any(asking.hears for asking in self._watched.values()):
            self._look_once()
            await asyncio.sleep(LOOK_S)
        self._looking = None

    def _look_once(self) -> None:
        for attempt, asking in list(self._watched.items()):
            if asking.hears and os.path.lexists(asking.directory / QUESTION_FILE):
                self._hear(attempt, asking)

    def _hear(self, attempt: int, asking: _Asking) -> None:
        try:
            question = read_question(asking.directory)
        except (UnusableReport, ValueError, RecursionError):
            return  # it is told when the attempt ends
        if question is None or question.text == asking.open or asking.asked >= QUESTIONS_MAX:
            return
        known = asking.answers.get(question.text)
        if known is not None:
            self._answer(asking, question.text, known)
            return
        asking.open = question.text
        asking.asked += 1
        self._tell(attempt, question)


def _write_answers(asking: _Asking) -> None:
    """Written beside and moved, so that nobody reads half of it."""
    with suppress(OSError):  # the attempt has taken its directory away; then it waits until it is stopped
        asking.directory.mkdir(parents=True, exist_ok=True)
        new = asking.directory / f".{ANSWERS_FILE}.new"
        new.unlink(missing_ok=True)
        write_plain(new, msgspec.json.encode(asking.answers))
        os.replace(new, asking.directory / ANSWERS_FILE)
