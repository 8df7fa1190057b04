"""Whether a conversation is resumed, and with which words, by how its last attempt ended."""

from typing import assert_never

from manyhands.core.values.ending import Ending, EndingKind


def is_to_resume(last: Ending | None) -> bool:
    """Not after a failure of the agent's own: what it believes by then may be what led it astray."""
    if last is None:
        return False
    match last.kind:
        case EndingKind.OVERLOADED | EndingKind.LOST | EndingKind.PREEMPTED:
            return True
        case EndingKind.FAILED:
            return _is_failed_check(last)
        case EndingKind.DONE | EndingKind.TIMED_OUT | EndingKind.CANCELLED:
            return False
        case kind:
            assert_never(kind)


def what_to_say(last: Ending | None) -> str:
    """After a failed check the check's own words; otherwise nothing has changed but the time."""
    if last is None or not _is_failed_check(last):
        return "continue"
    return f"The check of your work did not pass ({last.detail}). Its last output:\n\n{last.tail}\n\nFix this."


def _is_failed_check(last: Ending) -> bool:
    return last.failed_check and not last.permanent
