"""Hosts that cannot take anything for now: closed until an hour, in need of a person, or refusing everything."""

from typing import assert_never

from manyhands.core.book import Book
from manyhands.core.retry import QUOTA_FIRST_S, QUOTA_LONGEST_S, quota_wait_s
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
            if ending.needs_person:
                _note_need(book, host, ending)
            elif ending.quota:
                wait_s = quota_wait_s(ending, running.record.setbacks)
                why = ending.detail or "its quota is used up"
                for one in _of_account(book, host):
                    _pause(book, one, wait_s, why, is_closed=bool(ending.detail))
            elif not ending.rate_limited:
                _note_refusal(book, host, ending)
        case EndingKind.TIMED_OUT | EndingKind.CANCELLED | EndingKind.PREEMPTED | EndingKind.LOST:
            pass  # says nothing about what the host can take
        case kind:
            assert_never(kind)


def _note_refusal(book: Book, host: HostState, ending: Ending) -> None:
    if host.paused is not None:
        return  # it started before the pause, and says nothing new
    host.refused += 1
    if host.on_trial or host.refused >= 2 * host.width + 3:  # more than twice what can be in flight
        wait_s = min(PAUSE_LONGEST_S, PAUSE_FIRST_S * 2.0**host.trials)
        host.trials += 1
        host.on_trial = True
        why = f"it accepts nothing ({ending.detail or 'overloaded'})"
        _pause(book, host, wait_s, why)


def _note_need(book: Book, host: HostState, ending: Ending) -> None:
    """A person has to do something first. A single attempt finds out whether that has happened."""
    if host.paused is not None:
        return  # others that started earlier have said so already
    wait_s = min(QUOTA_LONGEST_S, QUOTA_FIRST_S * 2.0**host.trials)
    why = f"it needs a person ({ending.detail or 'it gave no reason'})"
    for one in _of_account(book, host):
        one.trials += 1
        one.on_trial = True
        _pause(book, one, wait_s, why, needs_person=True)


def _of_account(book: Book, host: HostState) -> list[HostState]:
    """The host, and those that are closed together with it."""
    account = host.host.account
    return [one for one in book.hosts.values() if one is host or (account and one.host.account == account)]


def _pause(
    book: Book, host: HostState, wait_s: float, why: str, is_closed: bool = False, needs_person: bool = False
) -> None:
    if host.paused is not None and host.paused_until is None:
        return  # a pause by a person has precedence
    until = book.at + wait_s
    if host.paused_until is not None and host.paused_until > until:
        return  # an attempt that started before the host was closed knows less
    host.pause(why, until, is_closed, needs_person)
    book.set_timer(until)
