"""What a person decides about work that waits, and answers to what a task asks."""

from collections.abc import Mapping
from typing import assert_never

from manyhands.core.events import Input, QuestionAnswered, WorkJudged
from manyhands.core.state import Record
from manyhands.core.values.question import QuestionKind, Verdict
from manyhands.engine.request_checks import WORDS_MAX
from manyhands.errors import Conflict, UsageError
from manyhands.surfaces.verbs.book_view import BookView
from manyhands.surfaces.verbs.request_verbs import RequestKept, Wanted
from manyhands.surfaces.verbs.store_view import command_for, find_task

#: An attempt has this variable, and so has everything that it starts.
_INSIDE = "MANYHANDS_ATTEMPT_NUMBER"


def check_is_person(environ: Mapping[str, str]) -> None:
    """An attempt must not approve its own work. This is a rule for those who keep to rules, not a wall."""
    if _INSIDE in environ:
        raise Conflict(
            f"this runs inside an attempt at task `{environ.get('MANYHANDS_TASK', '')[:100]}`, which decides nothing",
            "a person decides, in a terminal or on the page",
        )


#: What a person can say to a task that waits, and whether it takes words.
SAYINGS = {"approve": False, "send-back": True, "reject": False, "answer": True}
_VERDICTS = {"approve": Verdict.APPROVED, "send-back": Verdict.SENT_BACK, "reject": Verdict.REJECTED}


def say_to_task(
    view: BookView, verb: str, id: str, run: str | None, words: str = "", by: str = "", commit: str = ""
) -> Wanted[RequestKept]:
    """One of `SAYINGS`."""
    if verb == "answer":
        return answer_question(view, id, run, words, by)
    return judge_work(view, id, run, _VERDICTS[verb], words, by, commit)


def judge_work(
    view: BookView, id: str, run: str | None, verdict: Verdict, words: str = "", by: str = "", commit: str = ""
) -> Wanted[RequestKept]:
    """`commit`: refuse if other work waits by now than the one that was looked at."""
    record = find_task(view.book, id, run)
    question = record.question
    if question is None or question.kind is not QuestionKind.APPROVAL:
        raise Conflict(f"task `{id}` has no work that waits for approval; it is {record.state}", _instead(record))
    if commit and commit != question.commit:
        raise Conflict(
            f"task `{id}` has other work by now: {question.commit[:10]}, not {commit[:10]}",
            f"`manyhands task diff {id}` shows what waits",
        )
    if verdict is Verdict.SENT_BACK and not words.strip():
        raise UsageError("say what is to be done", f'`manyhands task send-back {id} "add a test for empty input"`')
    _check_length(words)
    event = WorkJudged(view.now, record.run, record.task.id, question.commit, verdict, words.strip(), by)
    return _wanted(view, record, event, *_in_words(verdict))


def answer_question(view: BookView, id: str, run: str | None, words: str, by: str = "") -> Wanted[RequestKept]:
    record = find_task(view.book, id, run)
    question = record.question
    if question is None or question.kind is QuestionKind.APPROVAL:
        raise Conflict(f"task `{id}` asks nothing; it is {record.state}", _instead(record))
    if not words.strip():
        raise UsageError("the answer is empty", f'`manyhands task answer {id} "WORDS"`')
    _check_length(words)
    event = QuestionAnswered(view.now, record.run, record.task.id, question.text, words.strip(), by)
    return _wanted(view, record, event, "continues with the answer", "will continue with the answer")


def _check_length(words: str) -> None:
    if len(words) > WORDS_MAX:
        raise UsageError(f"that is {len(words):,} characters, at most {WORDS_MAX:,}", "put it into a file and name it")


def _in_words(verdict: Verdict) -> tuple[str, str]:
    """What happens now, and what will happen when a dispatcher runs."""
    match verdict:
        case Verdict.APPROVED:
            return "is approved and lands", "will land"
        case Verdict.SENT_BACK:
            return "is sent back and gets another attempt", "will get another attempt"
        case Verdict.REJECTED:
            return "is rejected and will not land", "will be cancelled, and its work will not land"
        case _:
            assert_never(verdict)


def _wanted(view: BookView, record: Record, event: Input, now: str, later: str) -> Wanted[RequestKept]:
    task = f"task {record.task.id} of run {record.run}"
    command = command_for(view.book.runs[record.run])

    def answer(heard: bool) -> RequestKept:
        return RequestKept(f"{task} {now}" if heard else f"{task} {later} when `{command}` continues the run", heard)

    return Wanted([event], answer)


def _instead(record: Record) -> str:
    question = record.question
    if question is None:
        return f"`manyhands task explain {record.task.id}` says what it is waiting for; `manyhands inbox` lists all"
    if question.kind is QuestionKind.APPROVAL:
        return f"its work waits for approval: `manyhands task diff {record.task.id}` shows it"
    return f'it asks "{question.text[:200]}": `manyhands task answer {record.task.id} "WORDS"` answers it'
