"""Several runs side by side: what each took and cost, and for every task how it came out in each of them."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import asdict

from manyhands.core.state import Record, Run
from manyhands.core.values.ending import total_cost
from manyhands.core.values.task import TaskState
from manyhands.surfaces.verbs.book_view import BookView
from manyhands.surfaces.verbs.run_verbs import RunRow, run_row
from manyhands.surfaces.verbs.store_view import find_run

RUNS_SHOWN = 10
#: Tasks that came out badly or differently come first, so what is left out is dull.
TASKS_SHOWN = 2_000


class GridRun(RunRow):
    attempts: int
    busy_s: float  # what its attempts took, one after the other
    tokens: int
    cost: float | None  # None: unknown


class GridCell(Struct, array_like=True):
    """A task in one run."""

    state: str
    took_s: float | None  # all its attempts; None: it has not begun
    tries: int
    cost: float | None


class GridTask(Struct):
    task: str
    title: str
    kind: str
    cells: list[GridCell | None]  # one for each run; None: the run has no such task


class RunGrid(Struct):
    runs: list[GridRun]  # the oldest first
    tasks: list[GridTask]
    total: int  # of the tasks, listed or not


def grid_of(view: BookView, names: Sequence[str] = (), of: str = "") -> RunGrid:
    """The runs of these names; without names, the run `of` or the newest, and those before it from the same source."""
    runs = [find_run(view.book, name) for name in names] if names else _alike(_up_to(view, of))
    rows: dict[str, GridTask] = {}
    for place, run in enumerate(runs):
        for record in run.records.values():
            row = rows.get(record.task.id)
            if row is None:
                task = record.task
                row = rows[task.id] = GridTask(task.id, task.title, task.kind, [None] * len(runs))
            row.cells[place] = _cell(record, view.now)
    ordered = sorted(rows.values(), key=_is_dull)
    return RunGrid([_run(run, view.now) for run in runs], ordered[:TASKS_SHOWN], len(ordered))


def _up_to(view: BookView, name: str) -> list[Run]:
    runs = list(view.book.runs.values())
    return runs[: runs.index(find_run(view.book, name)) + 1] if name else runs


def _alike(runs: list[Run]) -> list[Run]:
    if not runs:
        return []
    last = runs[-1]
    return [run for run in runs if (run.purpose, run.source) == (last.purpose, last.source)][-RUNS_SHOWN:]


def _is_dull(row: GridTask) -> bool:
    return all(cell is not None and cell.state == TaskState.DONE for cell in row.cells)


def _took(record: Record, now: float) -> float | None:
    history = record.history or ()
    return sum((now if one.ended_at is None else one.ended_at) - one.started_at for one in history) if history else None


def _cost(record: Record) -> float | None:
    return total_cost(one.ending.cost for one in record.history or () if one.ending)


def _cell(record: Record, now: float) -> GridCell:
    took_s = _took(record, now)
    rounded = None if took_s is None else round(took_s, 3)
    return GridCell(str(record.state), rounded, len(record.history or ()), _cost(record))


def _run(run: Run, now: float) -> GridRun:
    records = run.records.values()
    endings = [one.ending for record in records for one in record.history or () if one.ending]
    return GridRun(
        **asdict(run_row(run)),
        attempts=sum(len(record.history or ()) for record in records),
        busy_s=round(sum(_took(record, now) or 0.0 for record in records), 3),
        tokens=sum(ending.tokens_in + ending.tokens_out for ending in endings),
        cost=total_cost(ending.cost for ending in endings),
    )
