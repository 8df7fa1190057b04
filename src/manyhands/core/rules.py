"""Ordering rules: a kind that waits until another has few left. A pool is held or free as a whole."""

from fnmatch import fnmatchcase

from manyhands.core.book import Book
from manyhands.core.model import Rule, TaskState
from manyhands.core.state import Run


def review(book: Book) -> None:
    """Hold or free every pool as the counts now stand. Costs nothing where there are no rules."""
    if not book.rules:
        return
    for pool in book.ready.pools.values():
        held_by = _holding_rule(book.rules, pool.run, pool.kind)
        if held_by and not pool.held_by:
            for record in book.ready.records(pool):
                book.hold(record, held_by)
        elif pool.held_by and not held_by:
            for record in book.ready.records(pool):
                book.become(record, TaskState.READY)
        elif held_by:
            for record in book.ready.records(pool):
                record.cause = held_by
        pool.held_by = held_by


def _holding_rule(rules: tuple[Rule, ...], run: Run, kind: str) -> str:
    for rule in rules:
        if fnmatchcase(kind, rule.kind):
            left = sum(n for other, n in run.left_of_kind.items() if other != kind and fnmatchcase(other, rule.after))
            if left > rule.left:
                return f"after kind {rule.after} has at most {rule.left} left (now {left})"
    return ""
