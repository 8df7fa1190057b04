"""Quiet hours of hosts: nothing starts there meanwhile, and what runs finishes."""

from manyhands.core.book import Book
from manyhands.core.values.spending_limit import DAY_LENGTH_S

#: Beginning and end in minutes after midnight UTC. An end before the beginning is on the next day.
QuietSpan = tuple[int, int]


def review(book: Book) -> None:
    for host in book.quiet_hosts:
        until = quiet_until(host.host.quiet, book.at)
        if until != host.quiet_until:
            host.quiet_until = until
            if until is not None:
                book.set_timer(until)


def quiet_until(spans: tuple[QuietSpan, ...], at: float) -> float | None:
    """When the quiet ends; None if it is not quiet now. Spans that meet are one."""
    until, moved = at, True
    while moved and until < at + DAY_LENGTH_S:
        moved = False
        for begin, end in spans:
            into_s = (until - begin * 60.0) % DAY_LENGTH_S
            length_s = (end - begin) * 60.0 % DAY_LENGTH_S or DAY_LENGTH_S
            if into_s < length_s:
                until, moved = until + length_s - into_s, True
    return until if until > at else None


def clock_words(at: float) -> str:
    minutes = round(at % DAY_LENGTH_S / 60.0)
    return f"{minutes // 60 % 24:02d}:{minutes % 60:02d} UTC"
