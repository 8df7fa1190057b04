"""Hosts that cannot take anything for now: closed until an hour, in need of a person, or getting nowhere."""

from collections.abc import Iterator

from manyhands.core.book import Book
from manyhands.core.retry import QUOTA_FIRST_S, QUOTA_LONGEST_S, quota_wait_s
from manyhands.core.state import HostState, Running
from manyhands.core.values.ending import Ending, EndingKind

#: A host that only refuses is left alone for longer each time, up to a minute; then one attempt finds out more.
PAUSE_FIRST_S = 1.0
PAUSE_LONGEST_S = 60.0


def note(book: Book, running: Running, ending: Ending) -> None:
    host = running.host
    if ending.kind is EndingKind.OVERLOADED and ending.needs_person:
        if host.paused is None:  # or others that began before said so already
            wait_s = min(QUOTA_LONGEST_S, QUOTA_FIRST_S * 2.0**host.trials)
            why = f"it needs a person ({ending.detail or 'it said no more'}); asked again in {wait_s:.0f} s"
            for one in _of_account(book, host):
                one.trials += 1
                one.on_trial = True
                _pause(book, one, wait_s, why)
    elif ending.kind is EndingKind.OVERLOADED and ending.quota:
        wait_s = quota_wait_s(ending, running.record.setbacks)
        why = ending.detail or f"its quota is used up; asked again in {wait_s:.0f} s"
        for one in _of_account(book, host):
            _pause(book, one, wait_s, why)
    elif ending.kind is EndingKind.OVERLOADED and not ending.rate_limited:
        host.refused += 1
        if host.on_trial or host.refused >= 2 * host.width + 3:  # more than everything in flight, twice
            wait_s = min(PAUSE_LONGEST_S, PAUSE_FIRST_S * 2.0**host.trials)
            host.trials += 1
            host.on_trial = True
            _pause(
                book, host, wait_s, f"it takes nothing ({ending.detail or 'overloaded'}); tried again in {wait_s:.0f} s"
            )
    elif ending.kind in (EndingKind.DONE, EndingKind.FAILED):  # it answers
        host.refused = host.trials = 0
        host.on_trial = False


def _of_account(book: Book, host: HostState) -> Iterator[HostState]:
    """The host, and those that are closed together with it."""
    account = host.host.account
    for one in book.hosts.values():
        if one is host or (account and one.host.account == account):
            yield one


def _pause(book: Book, host: HostState, wait_s: float, why: str) -> None:
    if host.paused is not None and host.paused_until is None:
        return  # a person's word stands
    until = book.at + wait_s
    if host.paused_until is not None and host.paused_until > until:
        return  # an attempt that began before it was closed knows less
    host.paused, host.paused_until = why, until
    book.set_timer(until)
