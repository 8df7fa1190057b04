"""What a map or a submission gives back: the results in the order of the items, and how each came about."""

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from msgspec import Struct

from manyhands.core.state import Record
from manyhands.core.values.ending import total_cost
from manyhands.core.values.task import Task, TaskState
from manyhands.errors import ManyhandsError
from manyhands.quantities import quantity

R = TypeVar("R")

#: So many failures are named in the error; all of them are in its `failures`.
_NAMED_MAX = 3


class Outcome(Struct, frozen=True):
    """How one item or task ended."""

    item: Any
    result: Any  # None unless it is done
    state: str  # done, failed, cancelled, deferred or skipped
    detail: str  # why it is not done
    attempts: int
    seconds: float  # how long its last attempt took
    host: str
    tokens_in: int
    tokens_out: int
    cost: float | None
    task: str  # its id in the store
    run: str

    def __repr__(self) -> str:
        """One line in a notebook, however large the item and its result are."""
        what = _shown(self.result) if self.state == TaskState.DONE else self.detail
        return f"<Outcome {_shown(self.item)}: {self.state}, {what}; {quantity(self.attempts, 'attempt')}>"


class ItemFailed(ManyhandsError):
    """One item came to no result. `__cause__` is what its function raised last, if that was in this process."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.detail or outcome.state, f"`manyhands task show {outcome.task} --run {outcome.run}`")
        self.outcome = outcome
        self.item = outcome.item


class MapFailed(ManyhandsError):
    """Some items came to no result. What the others came to is in `results`, with the failures in their places."""

    def __init__(self, results: "Results[Any]") -> None:
        self.results = results
        self.failures = [one for one in results if isinstance(one, ItemFailed)]
        named = "; ".join(f"{_shown(one.item)}: {one.message}" for one in self.failures[:_NAMED_MAX])
        more = f"; and {len(self.failures) - _NAMED_MAX} more" if len(self.failures) > _NAMED_MAX else ""
        super().__init__(
            f"{len(self.failures)} of {len(results)} failed: {named}{more}",
            f"the others are stored; `name={results.run!r}` tries only these again, and `return_exceptions=True`"
            " gives you the others at once",
        )


class Results(list[R]):
    """A list of the results in the order of the items, which also knows how each came about."""

    def __init__(self, results: Iterable[R], outcomes: Sequence[Outcome], run: str) -> None:
        super().__init__(results)
        self.outcomes = outcomes
        self.run = run

    def rows(self) -> list[dict[str, Any]]:
        """One dict for each item, as `pandas.DataFrame` and `polars.DataFrame` take them."""
        return [{name: getattr(one, name) for name in Outcome.__struct_fields__} for one in self.outcomes]

    def to_pandas(self) -> Any:
        """A DataFrame with a row for each item. It needs pandas, which you install yourself."""
        import pandas

        return pandas.DataFrame(self.rows(), columns=list(Outcome.__struct_fields__))


def outcome_of(item: Any, record: Record, result: Any) -> Outcome:
    tried = [one for one in record.history or () if one.ending is not None]
    endings = [one.ending for one in tried if one.ending is not None]
    last = tried[-1] if tried else None
    return Outcome(
        item,
        result,
        str(record.state),
        "" if record.state is TaskState.DONE else record.cause.why,
        len(record.history or ()),
        (last.ended_at or last.started_at) - last.started_at if last is not None else 0.0,
        last.host if last is not None else "",
        sum(ending.tokens_in for ending in endings),
        sum(ending.tokens_out for ending in endings),
        total_cost(ending.cost for ending in endings),
        record.task.id,
        record.run,
    )


def _shown(item: object) -> str:
    text = f"task {item.id}" if isinstance(item, Task) else repr(item)
    return text if len(text) <= 60 else text[:59] + "…"
