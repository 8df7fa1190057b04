"""Decides from the last attempt's ending whether its conversation is resumed, and with which prompt."""

from typing import assert_never

from manyhands.core.values.ending import Ending, EndingKind


def is_to_resume(last: Ending | None) -> bool:
    """A conversation is not resumed after the agent itself failed, because its beliefs may be what misled it."""
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
    """After a failed check, the output of the check. Otherwise only the time has changed."""
    if last is None or not _is_failed_check(last):
        return "continue"
    return f"The check of your work did not pass ({last.detail}). Its last output:\n\n{last.tail}\n\nFix this."


def _is_failed_check(last: Ending) -> bool:
    return last.failed_check and not last.permanent
