"""`manyhands runs`: what has been run from this store."""

import time
from pathlib import Path

from manyhands.cli.output import Output, counted, duration, print_json, print_rows, print_table, put, put_lines, say
from manyhands.cli.report import LISTED_MAX
from manyhands.cli.settings import load
from manyhands.cli.views import find_run, open_book
from manyhands.core.model import TaskState
from manyhands.core.state import Run
from manyhands.runtime.peaks import peaks


def list_runs(output: Output, config_path: Path | None, store: str | None) -> None:
    book = open_book(load(config_path, None, store).store_at)
    rows = [_row(run, output) for run in reversed(book.runs.values())]
    print_rows(rows, output, "run", none="no runs yet")


def _row(run: Run, output: Output) -> dict[str, object]:
    took_s = (run.ended_at or time.time()) - run.opened_at
    counts = {str(state): n for state, n in run.counts.items()}
    table = output is Output.TABLE
    return {
        "run": run.name,
        "opened": _when(run.opened_at) if table else run.opened_at,
        "took": (duration(took_s) if run.ended_at else "unfinished") if table else took_s if run.ended_at else None,
        "peak": run.peak,
        "tasks": len(run.records),
        "counts": counted(counts) if table else counts,
        "source": run.source,
    }


def _when(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))


def show_run(name: str | None, output: Output, config_path: Path | None, store: str | None) -> None:
    book = open_book(load(config_path, None, store).store_at)
    run = find_run(book, name)
    if output is Output.IDS:
        put_lines(run.records)
        return
    kinds = _kinds(run)
    troubled = [
        {"task": record.task.id, "state": str(record.state), "why": record.cause}
        for record in run.records.values()
        if record.state in (TaskState.FAILED, TaskState.CANCELLED, TaskState.SKIPPED)
    ]
    if output is Output.JSON:
        print_json({**_row(run, output), "kinds": kinds, "peaks": peaks(run.records.values()), "not_done": troubled})
        return
    row = _row(run, output)
    put_lines(f"{name:<8}{value}" for name, value in row.items())
    put("\n")
    print_table(kinds)
    if troubled:
        put("\n")
        print_table(troubled[:LISTED_MAX])
    if len(troubled) > LISTED_MAX:
        say(f"{LISTED_MAX} of {len(troubled)} shown; `manyhands task --run {run.name} --limit N` lists more")


def _kinds(run: Run) -> list[dict[str, object]]:
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
