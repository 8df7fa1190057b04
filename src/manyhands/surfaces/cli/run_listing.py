"""`manyhands runs`: lists the runs of this store."""

import time

from msgspec.structs import asdict

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
from manyhands.surfaces.verbs import run_verbs
from manyhands.surfaces.verbs.run_verbs import RunRow
from manyhands.surfaces.verbs.store_view import View, find_run


def list_runs(output: OutputFormat, settings: Settings) -> None:
    runs = run_verbs.list_runs(View(settings.load())).runs
    row = _cells if output is OutputFormat.TABLE else asdict
    print_rows([row(run) for run in runs], output, "run", none="there are no runs yet")


def _cells(run: RunRow) -> dict[str, object]:
    return {
        "run": run.run,
        "opened": _when(run.opened_at),
        "took": duration(run.ended_at - run.opened_at) if run.ended_at else "unfinished",
        "peak": run.peak,
        "tasks": run.total,
        "counts": counted(run.counts),
        "source": run.source,
    }


def _when(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))


def show_run(name: str | None, output: OutputFormat, settings: Settings) -> None:
    run = find_run(View(settings.load()).book, name)
    if output is OutputFormat.IDS:
        put_lines(run.records)
        return
    if output is OutputFormat.JSON:
        print_json(run_verbs.report_run(run))
        return
    put_lines(f"{name:<8}{value}" for name, value in _cells(run_verbs.run_row(run)).items())
    put("\n")
    print_table([asdict(row) for row in run_verbs.kind_rows(run)])
    troubled = [asdict(row) for row in run_verbs.not_done_rows(run)]
    if troubled:
        put("\n")
        print_table(troubled[:LISTED_MAX])
    if len(troubled) > LISTED_MAX:
        say(f"{LISTED_MAX} of {len(troubled)} shown; `manyhands task --run {run.name} --limit N` lists more")
