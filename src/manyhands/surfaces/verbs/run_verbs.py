"""What has been run from a store."""

from manyhands.core.state import Run
from manyhands.core.values.task import TaskState
from manyhands.engine.observed_peaks import peaks


def run_row(run: Run) -> dict[str, object]:
    return {
        "run": run.name,
        "opened": run.opened_at,
        "took": run.ended_at - run.opened_at if run.ended_at else None,
        "peak": run.peak,
        "tasks": len(run.records),
        "counts": {str(state): n for state, n in run.counts.items()},
        "source": run.source,
    }


def run_whole(run: Run) -> dict[str, object]:
    """With its kinds, its peaks, and what did not end well."""
    return {
        **run_row(run),
        "kinds": kind_rows(run),
        "peaks": peaks(run.records.values()),
        "not_done": not_done_rows(run),
    }


def not_done_rows(run: Run) -> list[dict[str, object]]:
    return [
        {"task": record.task.id, "state": str(record.state), "why": record.cause}
        for record in run.records.values()
        if record.state in (TaskState.FAILED, TaskState.CANCELLED, TaskState.SKIPPED)
    ]


def kind_rows(run: Run) -> list[dict[str, object]]:
    rows: dict[str, dict[str, object]] = {}
    spent: dict[str, list[float]] = {}
    for record in run.records.values():
        kind = record.task.kind
        row = rows.setdefault(kind, {"kind": kind, "tasks": 0, "done": 0, "attempts": 0, "mean_s": None})
        row["tasks"] = int(str(row["tasks"])) + 1
        row["done"] = int(str(row["done"])) + (record.state is TaskState.DONE)
        for tried in record.history or ():
            row["attempts"] = int(str(row["attempts"])) + 1
            if tried.ended_at is not None:
                spent.setdefault(kind, []).append(tried.ended_at - tried.started_at)
    for kind, seconds in spent.items():
        rows[kind]["mean_s"] = round(sum(seconds) / len(seconds), 3)
    return list(rows.values())
