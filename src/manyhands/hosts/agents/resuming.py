"""Decides whether an attempt resumes the last conversation of its task, and with which words."""

from typing import assert_never

from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.provenance import Purpose
from manyhands.core.values.question import Guidance


def is_to_resume(order: StartAttempt) -> bool:
    """A conversation is not resumed after the agent itself failed, because its beliefs may be what misled it."""
    last = order.last
    if last is None:
        return False
    if last.asks is not None:
        return True  # a person has answered, or has sent the work back
    match last.kind:
        case EndingKind.OVERLOADED | EndingKind.LOST | EndingKind.PREEMPTED:
            return True
        case EndingKind.FAILED:
            return _is_failed_check(last)
        case EndingKind.DONE | EndingKind.TIMED_OUT | EndingKind.CANCELLED:
            return False
        case kind:
            assert_never(kind)


def what_to_say(order: StartAttempt) -> str:
    """To an agent that resumes: what a person said, or what the check printed. Otherwise only the time has changed."""
    last = order.last
    if last is not None and _is_failed_check(last):
        return f"The check of your work did not pass ({last.detail}). Its last output:\n\n{last.tail}\n\nFix this."
    return "\n\n".join(_said(order.guidance)) or "continue"


#: The means that every attempt of its own process has. An agent uses only what it is told of.
MEANS = """\
If only a person can decide something, run `$MANYHANDS_ASK "your question"` and do what it prints.
Append what others should know later to the file `$MANYHANDS_NOTES_FILE`: a note begins with
`decision:`, `question:`, `lesson:`, `outcome:` or `handoff:`."""


def what_to_do(order: StartAttempt, has_means: bool) -> str:
    """To an agent that begins: the prompt, what people have said about the task since, and how it reaches them."""
    means = [MEANS] if has_means and not _is_measured(order.purpose) else []
    return "\n\n".join([order.task.prompt, *_said(order.guidance), *means])


def _is_measured(purpose: Purpose) -> bool:
    """What is measured gets the prompt as it is, and nobody waits for its questions."""
    match purpose:
        case Purpose.EVAL | Purpose.TRIAL | Purpose.TUNE:
            return True
        case Purpose.PLAN | Purpose.HAND | Purpose.PROGRAM | Purpose.DEMO | Purpose.SIMULATION:
            return False
        case _:
            assert_never(purpose)


def _said(guidance: Guidance | None) -> list[str]:
    if guidance is None:
        return []
    said = [f"You asked: {one.question}\nA person answered: {one.words}" for one in guidance.answers]
    if guidance.words:
        said.append(f"A person has looked at the work so far and sends it back:\n\n{guidance.words}")
    return said


def _is_failed_check(last: Ending) -> bool:
    return last.failed_check and not last.permanent
