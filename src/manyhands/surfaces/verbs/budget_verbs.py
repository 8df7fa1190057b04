"""Budgets: what each allows, what was spent of it, and one that is allowed to be used once more."""

from collections.abc import Iterator

from msgspec import Struct

from manyhands.core.book import Book
from manyhands.core.budgets import figures
from manyhands.core.events import BudgetRaised
from manyhands.errors import UsageError
from manyhands.readers.problems import did_you_mean
from manyhands.surfaces.verbs.book_view import BookView
from manyhands.surfaces.verbs.request_verbs import RequestKept, Wanted
from manyhands.surfaces.verbs.store_view import find_run


class BudgetRow(Struct, frozen=True):
    budget: str
    per: str
    key: str  # the run, host or account; "": the day
    cost: float  # with what running attempts are expected to cost
    cost_max: float | None
    tokens: float
    tokens_max: float | None
    soft: bool
    used_up: bool


class BudgetList(Struct, frozen=True):
    budgets: list[BudgetRow]
    total: int


def list_budgets(view: BookView) -> BudgetList:
    book = view.book_if_any
    rows = [] if book is None else [*_rows(book)]
    return BudgetList(rows, len(rows))


def _rows(book: Book) -> Iterator[BudgetRow]:
    for limit, hold in figures(book):
        used_up = (hold.cost_max is not None and hold.cost >= hold.cost_max) or (
            hold.tokens_max is not None and hold.tokens >= hold.tokens_max
        )
        yield BudgetRow(
            hold.budget,
            str(hold.per),
            hold.key,
            hold.cost,
            hold.cost_max,
            hold.tokens,
            hold.tokens_max,
            limit.soft,
            used_up,
        )


def raise_budget(view: BookView, name: str, key: str) -> Wanted[RequestKept]:
    """Allow its amount once more: in that run, or today."""
    book = view.book
    limit = next((one for one in book.budgets if one.name == name), None)
    if limit is None:
        names = [one.name for one in book.budgets]
        hint = did_you_mean(name, names) or f"the budgets are {', '.join(names) or 'none'}"
        raise UsageError(f"there is no budget `{name[:100]}`", hint)
    if limit.per == "task":
        raise UsageError(
            f"budget `{name}` is for single tasks", "`manyhands task resume TASK` lets one continue with a fresh budget"
        )
    if limit.per == "day":
        key = ""
    elif not key:
        raise UsageError(f"budget `{name}` is for each {limit.per}", f"name the {limit.per}")
    elif limit.per == "run":
        find_run(book, key)
    of = f" of {limit.per} {key}" if key else ""

    def answer(heard: bool) -> RequestKept:
        later = "" if heard else " when a dispatcher runs"
        return RequestKept(f"budget {name}{of} may be used once more{later}", heard)

    return Wanted([BudgetRaised(view.now, name, key)], answer)
