"""Whether a conversation is resumed, and with which words, by how its last attempt ended."""

from manyhands.core.values.ending import Ending, EndingKind

_CUT_SHORT = (EndingKind.OVERLOADED, EndingKind.LOST, EndingKind.PREEMPTED)


def is_to_resume(last: Ending | None) -> bool:
    """Not after a failure of the agent's own: what it believes by then may be what led it astray."""
    return last is not None and (last.kind in _CUT_SHORT or _is_failed_check(last))


def what_to_say(last: Ending | None) -> str:
    """After a failed check the check's own words; otherwise nothing has changed but the time."""
    if last is None or not _is_failed_check(last):
        return "continue"
    return f"The check of your work did not pass ({last.detail}). Its last output:\n\n{last.tail}\n\nFix this."


def _is_failed_check(last: Ending) -> bool:
    return last.kind is EndingKind.FAILED and not last.permanent and last.detail.startswith("check failed")
