"""Budgets: what attempts have cost, what running ones are expected to cost, and what is held because of it."""

import math
from collections.abc import Iterator
from typing import assert_never

from manyhands.core.book import Book
from manyhands.core.events import BudgetRaised, BudgetReached
from manyhands.core.placement import matches
from manyhands.core.state import HostState, Record, Run, Running
from manyhands.core.values.ending import Ending
from manyhands.core.values.spending_limit import (
    DAY_LENGTH_S,
    BudgetHold,
    Spending,
    SpendingLedger,
    SpendingLimit,
    day_of,
    ledger_key,
)

#: Weight of the newest attempt in what is usual for its kind.
USUAL_WEIGHT = 0.3


def book_spending(book: Book, running: Running, ending: Ending) -> None:
    """An attempt has ended: count what it took, and learn what attempts of its kind take."""
    cost, tokens = ending.cost or 0.0, float(ending.tokens_in + ending.tokens_out)
    ledger, host = _today(book), running.host
    book.spending_changed = True
    run = book.runs[running.record.run]
    run.cost += cost
    run.tokens += tokens
    if run.max_cost is not None and run.cost >= run.max_cost:
        run.draining = True
    ledger.hosts.setdefault(host.name, Spending()).add(cost, tokens)
    if host.host.account:
        ledger.accounts.setdefault(host.host.account, Spending()).add(cost, tokens)
    host.has_cost = True
    kinds = ledger.usual.setdefault(host.name, {})
    usual = kinds.setdefault(running.record.task.kind, Spending(cost, tokens))
    usual.cost += USUAL_WEIGHT * (cost - usual.cost)
    usual.tokens += USUAL_WEIGHT * (tokens - usual.tokens)


def _today(book: Book) -> SpendingLedger:
    ledger = book.ledger
    if (day := day_of(book.at)) != ledger.day:
        ledger.day, ledger.hosts, ledger.accounts = day, {}, {}
        of_day = {limit.name for limit in book.budgets if _begins_anew(limit)}
        for kept in (ledger.raised, ledger.reached):
            for key in [key for key in kept if key.partition("/")[0] in of_day]:
                kept.pop(key)
    return ledger


def _begins_anew(limit: SpendingLimit) -> bool:
    match limit.per:
        case "host" | "account" | "day":
            return True
        case "task" | "run":
            return False
        case _:
            assert_never(limit.per)


def expected(book: Book, running: Running) -> Spending:
    """What a running attempt will have taken in the end: what is usual for its kind, or more if it said so."""
    usual = book.ledger.usual.get(running.host.name, {}).get(running.record.task.kind, Spending())
    lease = running.lease
    if lease is None:
        return usual
    return Spending(max(usual.cost, lease.cost or 0.0), max(usual.tokens, lease.tokens_in + lease.tokens_out))


def review(book: Book) -> None:
    """Hold or free runs and hosts by what was spent. Costs nothing if there are no budgets or nothing was spent."""
    if not book.budgets or not (book.spending_changed or _is_new_day(book)):
        return
    book.spending_changed = False
    ledger = _today(book)
    flying = _InFlight(book)
    for run in book.runs.values():
        run.budget_hold = None
    for host in book.hosts.values():
        host.budget_hold = None
    for limit in book.budgets:
        for key, spent, in_flight, held in _of(book, ledger, limit, flying):
            hold = _hold(book, limit, key, spent, in_flight)
            if hold is None:
                continue
            _tell(book, hold, limit)
            if not limit.soft:
                for one in held:
                    one.budget_hold = one.budget_hold or hold
                if hold.until is not None:
                    book.set_timer(hold.until)


def _is_new_day(book: Book) -> bool:
    return book.ledger.day != day_of(book.at)


class _InFlight:
    """What running attempts are expected to take, by run, host and account."""

    def __init__(self, book: Book) -> None:
        self.runs: dict[str, Spending] = {}
        self.hosts: dict[str, Spending] = {}
        self.accounts: dict[str, Spending] = {}
        for running in book.running.values():
            taken = expected(book, running)
            host = running.host
            for sums, key in (
                (self.runs, running.record.run),
                (self.hosts, host.name),
                (self.accounts, host.host.account),
            ):
                sums.setdefault(key, Spending()).add(taken.cost, taken.tokens)


_Held = list[Run] | list[HostState]


def _of(
    book: Book, ledger: SpendingLedger, limit: SpendingLimit, flying: _InFlight
) -> Iterator[tuple[str, Spending, Spending, _Held]]:
    """What a budget is for: (its key, what was spent, what is in flight, what it holds)."""
    none = Spending()
    paid = [host for host in book.hosts.values() if host.has_cost]
    match limit.per:
        case "run":
            for run in book.runs.values():
                if run.unfinished and matches(run.name, limit.of):
                    yield run.name, Spending(run.cost, run.tokens), flying.runs.get(run.name, none), [run]
        case "host":
            for host in paid:
                if matches(host.name, limit.of):
                    name = host.name
                    yield name, ledger.hosts.get(name, none), flying.hosts.get(name, none), [host]
        case "account":
            for account in dict.fromkeys(host.host.account for host in paid if host.host.account):
                if matches(account, limit.of):
                    held = [host for host in paid if host.host.account == account]
                    yield account, ledger.accounts.get(account, none), flying.accounts.get(account, none), held
        case "day":
            held = [host for host in paid if matches(host.name, limit.of)]
            spent = [ledger.hosts[name] for name in ledger.hosts if matches(name, limit.of)]
            yield "", _sum(spent), _sum([flying.hosts.get(host.name, none) for host in held]), held
        case "task":
            pass  # a task is looked at when an attempt at it has ended
        case _:
            assert_never(limit.per)


def _sum(parts: list[Spending]) -> Spending:
    return Spending(math.fsum(part.cost for part in parts), math.fsum(part.tokens for part in parts))


def figures(book: Book) -> Iterator[tuple[SpendingLimit, BudgetHold]]:
    """Each budget as it stands, used up or not. Those of tasks are left out: there is one for each."""
    ledger = book.ledger if not _is_new_day(book) else SpendingLedger(usual=book.ledger.usual)
    flying = _InFlight(book)
    for limit in book.budgets:
        for key, spent, in_flight, _ in _of(book, ledger, limit, flying):
            yield limit, _stand(book, limit, key, spent, in_flight)


def _hold(book: Book, limit: SpendingLimit, key: str, spent: Spending, in_flight: Spending) -> BudgetHold | None:
    """The budget with its figures if it is used up."""
    stand = _stand(book, limit, key, spent, in_flight)
    if stand.cost_max is not None and stand.cost >= stand.cost_max:
        return stand
    return stand if stand.tokens_max is not None and stand.tokens >= stand.tokens_max else None


def _stand(book: Book, limit: SpendingLimit, key: str, spent: Spending, in_flight: Spending) -> BudgetHold:
    """The budget with its figures. Running attempts count at what they are expected to take."""
    times = 1 + book.ledger.raised.get(ledger_key(limit.name, key), 0)
    cost_max = None if limit.cost is None else limit.cost * times
    tokens_max = None if limit.tokens is None else float(limit.tokens * times)
    cost, tokens = spent.cost + in_flight.cost, spent.tokens + in_flight.tokens
    until = (day_of(book.at) + 1) * DAY_LENGTH_S if _begins_anew(limit) else None
    flying = in_flight.cost, in_flight.tokens
    return BudgetHold(limit.name, limit.per, key, cost, tokens, *flying, cost_max, tokens_max, until)


def _tell(book: Book, hold: BudgetHold, limit: SpendingLimit) -> None:
    """Once for each time that it is used up; a person who raises it may be told again."""
    if book.replaying or ledger_key(limit.name, hold.key) in book.ledger.reached:
        return
    event = BudgetReached(book.at, limit.name, hold.key, limit.soft, str(hold))
    note_reached(book, event)
    book.decisions.append(event)


def note_reached(book: Book, event: BudgetReached) -> None:
    book.ledger.reached[ledger_key(event.budget, event.key)] = True


def raise_budget(book: Book, event: BudgetRaised) -> None:
    """It may take its amount once more: today, or in this run."""
    if any(limit.name == event.budget for limit in book.budgets):
        ledger, key = _today(book), ledger_key(event.budget, event.key)
        ledger.raised[key] = ledger.raised.get(key, 0) + 1
        ledger.reached.pop(key, None)
        book.spending_changed = True
        if (run := book.runs.get(event.key)) is not None:
            book.touch(run)


def over_task_budget(book: Book, record: Record, host: HostState) -> BudgetHold | None:
    """The hard budget that the attempts at this task have used up since a person last asked for it."""
    limits = [limit for limit in book.budgets if limit.per == "task" and matches(host.name, limit.of)]
    if not limits or record.task.family or record.is_step:  # a family ends together
        return None
    counted = [tried for tried in record.history or () if tried.started_at >= record.wanted_at]
    endings = [tried.ending for tried in counted if tried.ending is not None]
    spent = _sum([Spending(one.cost or 0.0, float(one.tokens_in + one.tokens_out)) for one in endings])
    for limit in limits:
        hold = _hold(book, limit, f"{record.run}/{record.task.id}", spent, Spending())
        if hold is not None:
            _tell(book, hold, limit)
            if not limit.soft:
                return hold
    return None
