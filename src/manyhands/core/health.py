"""Hosts that cannot take anything for now: their quota is used up, or they refuse everything."""

from typing import assert_never

from manyhands.core.book import Book
from manyhands.core.retry import quota_wait_s
from manyhands.core.state import HostState, Running
from manyhands.core.values.ending import Ending, EndingKind

#: A host that only refuses is left alone for longer each time, up to a minute. Then a single attempt tests it.
PAUSE_FIRST_S = 1.0
PAUSE_LONGEST_S = 60.0


def note(book: Book, running: Running, ending: Ending) -> None:
    host = running.host
    match ending.kind:
        case EndingKind.DONE | EndingKind.FAILED:  # it answers
            if host.refused or host.trials or host.on_trial:
                host.refused = host.trials = 0
                host.on_trial = False
        case EndingKind.OVERLOADED:
            if ending.quota:
                wait_s = quota_wait_s(ending, running.record.setbacks)
                _pause(book, host, wait_s, f"its quota is used up; next try in {wait_s:.0f} s")
            elif not ending.rate_limited:
                _note_refusal(book, host, ending)
        case EndingKind.TIMED_OUT | EndingKind.CANCELLED | EndingKind.PREEMPTED | EndingKind.LOST:
            pass  # says nothing about what the host can take
        case kind:
            assert_never(kind)


def _note_refusal(book: Book, host: HostState, ending: Ending) -> None:
    host.refused += 1
    if host.on_trial or host.refused >= 2 * host.width + 3:  # more than twice what can be in flight
        wait_s = min(PAUSE_LONGEST_S, PAUSE_FIRST_S * 2.0**host.trials)
        host.trials += 1
        host.on_trial = True
        why = f"it accepts nothing ({ending.detail or 'overloaded'}); next try in {wait_s:.0f} s"
        _pause(book, host, wait_s, why)


def _pause(book: Book, host: HostState, wait_s: float, why: str) -> None:
    if host.paused is not None and host.paused_until is None:
        return  # a pause by a person has precedence
    host.paused, host.paused_until = why, book.at + wait_s
    book.set_timer(host.paused_until)
