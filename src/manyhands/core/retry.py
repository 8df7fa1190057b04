"""What follows an attempt that did not end well: another attempt after a delay, or the end of the task."""

from typing import assert_never
from zlib import crc32

from manyhands.core.values.ending import Ending, EndingKind

#: The delay doubles from the first to the longest: a blip costs half a second, a broken host is not hammered.
DELAY_FIRST_S = 0.5
DELAY_LONGEST_S = 60.0
#: An overload is not the task's fault and costs it no attempt, but a host that only ever refuses is broken.
SETBACKS_MAX = 12

#: A quota is used up and the host does not say until when: we ask again after this long, then less and less often.
QUOTA_FIRST_S = 60.0
QUOTA_LONGEST_S = 3600.0


def is_final(ending: Ending, tries: int, setbacks: int, attempts_max: int) -> bool:
    """Is the task out of attempts? `tries` and `setbacks` count this ending already."""
    if ending.permanent:
        return True
    match ending.kind:
        case EndingKind.OVERLOADED:
            # A quota comes back at its hour, however long that takes. That is not a sign of a broken host.
            # Nor is it one that a person has yet to do something.
            return setbacks >= SETBACKS_MAX and not ending.quota and not ending.needs_person
        case EndingKind.FAILED | EndingKind.TIMED_OUT:
            return tries >= attempts_max
        case EndingKind.LOST | EndingKind.PREEMPTED:
            return False  # nothing was learned about the task
        case EndingKind.DONE | EndingKind.CANCELLED:
            return True
        case kind:
            assert_never(kind)


def delay_s(ending: Ending, tries: int, setbacks: int, seed: int, task: str) -> float:
    """How long to wait before the next attempt."""
    match ending.kind:
        case EndingKind.LOST | EndingKind.PREEMPTED:
            return 0.0  # the attempt was not at fault
        case EndingKind.OVERLOADED:
            nth = max(1, setbacks)
        case EndingKind.FAILED | EndingKind.TIMED_OUT | EndingKind.DONE | EndingKind.CANCELLED:
            nth = max(1, tries)
        case kind:
            assert_never(kind)
    if ending.quota or (ending.kind is EndingKind.OVERLOADED and ending.needs_person):
        return 0.0  # its host is paused, and another host may take it at once
    longest = min(DELAY_LONGEST_S, DELAY_FIRST_S * 2.0 ** (nth - 1))
    # Spread over the upper half, so that tasks that failed together do not come back together.
    delay = longest * (0.5 + 0.5 * jitter(seed, task, nth))
    return max(delay, ending.retry_after_s or 0.0)


def quota_wait_s(ending: Ending, setbacks: int) -> float:
    """How many seconds to leave a host alone whose quota is used up."""
    if ending.retry_after_s is not None:
        # A moment that has passed already must not make everything start again at once.
        return max(ending.retry_after_s, min(DELAY_LONGEST_S, DELAY_FIRST_S * 2.0 ** max(0, setbacks - 1)))
    return min(QUOTA_LONGEST_S, QUOTA_FIRST_S * 2.0 ** (max(1, setbacks) - 1))


def jitter(seed: int, task: str, nth: int) -> float:
    """A number in [0, 1) that is always the same for the same seed, task and try."""
    return crc32(f"{seed}:{task}:{nth}".encode()) / 2**32
