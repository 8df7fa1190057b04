"""`manyhands runs`: lists the runs of this store."""

import time

from manyhands.core.state import Run
from manyhands.surfaces.cli.printing import (
    OutputFormat,
    counted,
    duration,
    print_json,
    print_rows,
    print_table,
    put,
    put_lines,
    say,
)
from manyhands.surfaces.cli.report import LISTED_MAX
from manyhands.surfaces.cli.settings import Settings
from manyhands.surfaces.verbs.run_verbs import kind_rows, not_done_rows, run_row, run_whole
from manyhands.surfaces.verbs.store_view import View, find_run


def list_runs(output: OutputFormat, settings: Settings) -> None:
    row = _table_row if output is OutputFormat.TABLE else run_row
    rows = [row(run) for run in reversed(View(settings.load()).book.runs.values())]
    print_rows(rows, output, "run", none="there are no runs yet")


def _table_row(run: Run) -> dict[str, object]:
    return {
        **run_row(run),
        "opened": _when(run.opened_at),
        "took": duration(run.ended_at - run.opened_at) if run.ended_at else "unfinished",
        "counts": counted({str(state): n for state, n in run.counts.items()}),
    }


def _when(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))


def show_run(name: str | None, output: OutputFormat, settings: Settings) -> None:
    run = find_run(View(settings.load()).book, name)
    if output is OutputFormat.IDS:
        put_lines(run.records)
        return
    if output is OutputFormat.JSON:
        print_json(run_whole(run))
        return
    put_lines(f"{name:<8}{value}" for name, value in _table_row(run).items())
    put("\n")
    print_table(kind_rows(run))
    troubled = not_done_rows(run)
    if troubled:
        put("\n")
        print_table(troubled[:LISTED_MAX])
    if len(troubled) > LISTED_MAX:
        say(f"{LISTED_MAX} of {len(troubled)} shown; `manyhands task --run {run.name} --limit N` lists more")
