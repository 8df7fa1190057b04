"""What a task asks a person, and what people have said to it: values that decide, beside the words for people."""

import enum

from msgspec import Struct


class QuestionKind(enum.StrEnum):
    APPROVAL = "approval"  # may this work land?
    QUESTION = "question"  # something that only a person knows


class Question(Struct, frozen=True, omit_defaults=True, gc=False):
    kind: QuestionKind
    text: str  # one line; no code decides by it, except that the same words are the same question
    choices: tuple[str, ...] = ()  # the answers that make sense; none: any words
    commit: str = ""  # the work so far, as a commit on the attempt's branch; "": it has none


class Verdict(enum.StrEnum):
    """What a person decides about work that waits for approval."""

    APPROVED = "approved"
    SENT_BACK = "sent_back"  # another attempt continues the work
    REJECTED = "rejected"


class Judgement(Struct, frozen=True, gc=False):
    """What a person decided about the work of an attempt."""

    verdict: Verdict
    by: str
    words: str
    at: float


class Answer(Struct, frozen=True, gc=False):
    question: str
    words: str


class Guidance(Struct, frozen=True, omit_defaults=True, gc=False):
    """What people have said about a task, for its next attempt."""

    approved: str = ""  # the commit that may land; the attempt does nothing else
    continues: str = ""  # the commit that the attempt continues
    words: str = ""  # with which the work was sent back
    answers: tuple[Answer, ...] = ()  # to the questions that the task has asked, oldest first

    def answer_to(self, question: str) -> str | None:
        return next((one.words for one in reversed(self.answers) if one.question == question), None)


def answers_in(guidance: Guidance | None) -> tuple[Answer, ...]:
    return () if guidance is None else guidance.answers
