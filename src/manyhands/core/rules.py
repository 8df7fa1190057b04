"""Ordering rules: a kind waits until few tasks of another kind are left. A rule holds or frees whole pools."""

from fnmatch import fnmatchcase

from manyhands.core.book import Book
from manyhands.core.state import Run
from manyhands.core.values.host import Rule
from manyhands.core.values.provenance import Cause, CausedBy


def review(book: Book) -> None:
    """Hold or free every pool by the current counts. Costs nothing if there are no rules."""
    if not book.rules and not book.rules_to_review:
        return
    book.rules_to_review = False
    for pool in book.ready.pools.values():
        rule = holding_rule(book.rules, pool.run, pool.kind)
        if rule == pool.held_by:
            continue
        for record in book.ready.records(pool):
            if rule is None:
                book.free(record)
            elif record.held:
                record.cause = Cause(CausedBy.RULE, str(rule))
            else:
                book.hold(record, rule)
        pool.held_by = rule


def holding_rule(rules: tuple[Rule, ...], run: Run, kind: str) -> Rule | None:
    """The first rule that puts this kind off now."""
    for rule in rules:
        if fnmatchcase(kind, rule.kind) and left_of(rule, run, kind) > rule.left:
            return rule
    return None


def left_of(rule: Rule, run: Run, kind: str) -> int:
    """Unfinished tasks that the rule makes this kind wait for. A kind never waits for itself."""
    return sum(n for other, n in run.left_of_kind.items() if other != kind and fnmatchcase(other, rule.after))
