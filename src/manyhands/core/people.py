"""What tasks ask people, and what follows from the answers. A task that waits for a person holds nothing."""

from typing import assert_never

from manyhands.core import intake
from manyhands.core.book import Book
from manyhands.core.commands import AnswerAttempt
from manyhands.core.events import QuestionAnswered, QuestionAsked, WorkJudged
from manyhands.core.state import Record, Run
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.provenance import Cause, CausedBy
from manyhands.core.values.question import Answer, Guidance, Judgement, Question, QuestionKind, Verdict, answers_in
from manyhands.core.values.task import TaskState


def wait_for_person(book: Book, record: Record, question: Question | None, why: str) -> None:
    """The attempt has ended, and only a person can say how the task continues."""
    book.become(record, TaskState.NEEDS_PERSON, Cause(CausedBy.ATTEMPT, why))
    record.question = question


def why_it_waits(question: Question) -> str:
    match question.kind:
        case QuestionKind.APPROVAL:
            return f"waits for approval: {question.text}"
        case QuestionKind.QUESTION:
            return f"asks: {question.text}"
        case kind:
            assert_never(kind)


def keep_guidance(record: Record, guidance: Guidance, ending: Ending) -> None:
    """What was said for the attempt that has ended like this, and is still good for the next one."""
    match ending.kind:
        case EndingKind.DONE if ending.asks is None:
            record.guidance = None
        case EndingKind.DONE | EndingKind.FAILED | EndingKind.TIMED_OUT if guidance.approved:
            # It did not fit what has landed meanwhile. What is done about that is new work, to be approved again.
            record.guidance = Guidance(answers=guidance.answers) if guidance.answers else None
        case EndingKind.DONE | EndingKind.FAILED | EndingKind.TIMED_OUT | EndingKind.CANCELLED:
            pass
        case EndingKind.OVERLOADED | EndingKind.LOST | EndingKind.PREEMPTED:
            pass
        case kind:
            assert_never(kind)


def ask(book: Book, event: QuestionAsked) -> None:
    """A running attempt asks. It continues when it is answered, and holds what it has meanwhile."""
    running = book.running.get(event.attempt)
    if running is None:
        return
    record = running.record
    known = record.guidance.answer_to(event.question.text) if record.guidance is not None else None
    if known is not None:
        book.commands.append(AnswerAttempt(event.attempt, known))
        return
    if record.question is None:
        running.tried.asked_at = book.at
    record.question = event.question
    book.note_change(record)


def judge(book: Book, run: Run, record: Record, event: WorkJudged) -> None:
    """Only the work that the person has seen is meant: a verdict on an earlier commit changes nothing."""
    question = record.question
    if record.state is not TaskState.NEEDS_PERSON or question is None or question.commit != event.commit:
        return
    if question.kind is not QuestionKind.APPROVAL:
        return
    if record.history:
        record.history[-1].judged = Judgement(event.verdict, event.by, event.words, event.at)
    answers = answers_in(record.guidance)
    match event.verdict:
        case Verdict.APPROVED:
            _continue(book, run, record, Guidance(approved=event.commit, answers=answers))
        case Verdict.SENT_BACK:
            _continue(book, run, record, Guidance(continues=event.commit, words=event.words, answers=answers))
        case Verdict.REJECTED:
            said = f": {event.words}" if event.words else ""
            intake.cancel(book, run, record, Cause(CausedBy.PERSON, f"rejected by {event.by or 'a person'}{said}"))
        case verdict:
            assert_never(verdict)


def answer(book: Book, run: Run, record: Record, event: QuestionAnswered) -> None:
    question = record.question
    if question is None or question.kind is QuestionKind.APPROVAL or question.text != event.question:
        return  # it was answered before
    before = record.guidance or Guidance()
    answers = (*before.answers, Answer(question.text, event.words))
    if record.state is TaskState.NEEDS_PERSON:
        continues = question.commit or before.continues
        _continue(book, run, record, Guidance(continues=continues, words=before.words, answers=answers))
    elif record.state is TaskState.RUNNING and record.history:
        # An attempt that was started to land asks nothing, so nothing approved is lost here.
        record.guidance = Guidance(before.approved, before.continues, before.words, answers)
        record.question = None
        book.note_change(record)
        tried = record.history[-1]
        tried.waited_s += book.at - (book.at if tried.asked_at is None else tried.asked_at)
        tried.asked_at = None
        if record.task.timeout is not None:
            book.set_timer(tried.started_at + tried.waited_s + record.task.timeout, record)
        book.commands.append(AnswerAttempt(tried.attempt, event.words))


def _continue(book: Book, run: Run, record: Record, guidance: Guidance) -> None:
    """Queue the task for an attempt that is told this, with a new count of its tries."""
    record.guidance = guidance
    record.tries = record.setbacks = 0
    record.wanted_at = book.at
    if record.waits_for:
        book.become(record, TaskState.BLOCKED)
    else:
        book.queue(record)
    book.touch(run)
