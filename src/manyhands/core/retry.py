"""What follows an attempt that did not end well: another try, when, or the end of the task."""

from zlib import crc32

from manyhands.core.values.ending import Ending, EndingKind

#: Doubles from the first to the longest: a blip costs half a second, an outage is not hammered.
DELAY_FIRST_S = 0.5
DELAY_LONGEST_S = 60.0
#: An overload is not the task's fault and costs it no attempt, but a host that only ever refuses is broken.
SETBACKS_MAX = 12

#: A quota that is used up with no word of when it comes back: asked again after so long, then ever more rarely.
QUOTA_FIRST_S = 60.0
QUOTA_LONGEST_S = 3600.0

COUNTED = frozenset({EndingKind.FAILED, EndingKind.TIMED_OUT})


def is_final(ending: Ending, tries: int, setbacks: int, attempts_max: int) -> bool:
    """Is the task out of attempts? `tries` and `setbacks` count this ending already."""
    if ending.permanent:
        return True
    if ending.kind is EndingKind.OVERLOADED:
        # A quota comes back at its hour, however long that takes: no sign of a host that is broken.
        # A person comes when a person comes: that is no sign of it either.
        return setbacks >= SETBACKS_MAX and not ending.quota and not ending.needs_person
    return ending.kind in COUNTED and tries >= attempts_max


def delay_s(ending: Ending, tries: int, setbacks: int, seed: int, task: str) -> float:
    """How long to wait before the next attempt. Lost and preempted ones need not wait at all."""
    if ending.kind in (EndingKind.LOST, EndingKind.PREEMPTED):
        return 0.0
    if ending.quota or (ending.kind is EndingKind.OVERLOADED and ending.needs_person):
        return 0.0  # its host is paused, and another may take it at once
    nth = max(1, setbacks if ending.kind is EndingKind.OVERLOADED else tries)
    longest = min(DELAY_LONGEST_S, DELAY_FIRST_S * 2.0 ** (nth - 1))
    # Spread over the upper half, so that tasks that fell together do not come back together.
    delay = longest * (0.5 + 0.5 * jitter(seed, task, nth))
    return max(delay, ending.retry_after_s or 0.0)


def quota_wait_s(ending: Ending, setbacks: int) -> float:
    """How long a host whose quota is used up is left alone."""
    if ending.retry_after_s is not None:
        # A moment that is past already must not have everything begin again at once.
        return max(ending.retry_after_s, min(DELAY_LONGEST_S, DELAY_FIRST_S * 2.0 ** max(0, setbacks - 1)))
    return min(QUOTA_LONGEST_S, QUOTA_FIRST_S * 2.0 ** (max(1, setbacks) - 1))


def jitter(seed: int, task: str, nth: int) -> float:
    """A number in [0, 1) that is always the same for the same seed, task and try."""
    return crc32(f"{seed}:{task}:{nth}".encode()) / 2**32
