"""`manyhands sim`: predicts what would happen to a backlog on given hosts, in virtual time."""

import time
from pathlib import Path

from manyhands.core.events import AnyEvent
from manyhands.engine.sim.scenario import read_scenario, with_tasks
from manyhands.engine.sim.scenario_trial import (
    RUN,
    HostResult,
    ScenarioResult,
    best_fixed_widths,
    run_trial,
    run_with_memory,
)
from manyhands.engine.store.sqlite.sqlite_store import open_journal
from manyhands.errors import UsageError
from manyhands.quantities import quantity
from manyhands.surfaces.cli.expected_times import expected_times
from manyhands.surfaces.cli.printing import OutputFormat, duration, print_json, print_table, say
from manyhands.surfaces.cli.sim_load import simulate_load

CHART_COLUMNS = 60
_BARS = " ▁▂▃▄▅▆▇█"
#: How many events go to disk in one transaction when a journal is wanted.
EVENTS_AT_ONCE = 5_000


def simulate(path: Path, tasks: int | None, journal: Path | None, page: Path | None, output: OutputFormat) -> int:
    scenario = read_scenario(path)
    if tasks is not None:
        scenario = with_tasks(scenario, tasks)
    if scenario.streams:
        if journal is not None or page is not None:
            raise UsageError(
                f"scenario `{path}` has a backlog with a `block`, so there can be no `--journal` and no `--page`",
                "leave out `block` to keep all tasks and their events",
            )
        return simulate_load(scenario, output)
    if journal is not None and (journal / "journal.db").exists():
        raise UsageError(f"there already is a journal in `{journal}`", "name a directory without one, or remove it")
    began = time.monotonic()
    events: list[AnyEvent] = []
    is_kept = journal is not None or page is not None
    found = run_trial(scenario, path.parent, recorded=events.append if is_kept else None)
    say(
        f"simulated {quantity(found.tasks, 'task')} in {time.monotonic() - began:.1f} s;"
        " now trying fixed widths to compare"
    )
    if journal is not None:
        _write(journal, events)
    if page is not None:
        _write_page(page, events)
    widths, best = best_fixed_widths(
        scenario, path.parent, found, lambda host, width, s: say(f"  {host} {width}: {duration(s)}")
    )
    again = run_with_memory(scenario, path.parent)
    if output is OutputFormat.JSON:
        print_json(
            {
                "makespan_s": found.makespan_s,
                "with_memory_s": again.makespan_s,
                "tasks": found.tasks,
                "done": found.done,
                "goodput": found.goodput,
                "best_fixed": {"widths": widths, "makespan_s": best.makespan_s},
                "of_best_fixed": best.makespan_s / found.makespan_s,
                "hosts": list(found.hosts.values()),
            }
        )
    elif output is OutputFormat.IDS:
        print("\n".join(found.hosts))
    else:
        _print(found, again, widths, best)
    return 0 if found.done == found.tasks else 1


def _write(directory: Path, events: list[AnyEvent]) -> None:
    written = open_journal(directory, "crash")
    try:
        for start in range(0, len(events), EVENTS_AT_ONCE):
            written.append(events[start : start + EVENTS_AT_ONCE])
    finally:
        written.close()
    say(f"wrote the journal to {directory}: `manyhands runs --store {directory}` lists its run")


def _write_page(file: Path, events: list[AnyEvent]) -> None:
    # Imported here: a simulation without a page does not need it.
    from manyhands.surfaces.api.offline import recorded
    from manyhands.surfaces.api.picture.recording import Recording
    from manyhands.surfaces.page.inlining import single_page

    told = b"".join(recorded(Recording(enumerate(events, start=1), RUN)))
    try:
        file.write_text(single_page(told.decode()), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write `{file}`: {error.strerror}", "name a file in a directory that exists") from None
    say(f"wrote the page to {file}: any browser opens it")


def _print(found: ScenarioResult, again: ScenarioResult, widths: dict[str, int], best: ScenarioResult) -> None:
    print_table(
        [
            {
                "host": host.host,
                "width": host.width,
                "peak": host.peak,
                "mean_in_flight": round(host.mean_in_flight, 1),
                "done": host.done,
                "overloads": host.overloads,
                "lost": host.lost,
                "best_fixed": widths[host.host],
            }
            for host in found.hosts.values()
        ]
    )
    for host in found.hosts.values():
        if len(host.moves) > 1:
            print(f"\n{host.host}: width over {duration(found.makespan_s)}\n{chart(host, found.makespan_s)}")
            print(f"  {quantity(len(host.moves), 'move')}; the last: {host.moves[-1].width}, {host.moves[-1].reason}")
    done = f"{found.done:,} of {found.tasks:,} done"
    print(f"\n{done} in {duration(found.makespan_s)}, {found.goodput:.3g} tasks/s")
    fixed = ", ".join(f"{name} {width}" for name, width in widths.items())
    pace = best.makespan_s / found.makespan_s
    print(f"the best fixed widths are {fixed}; this run reached {pace:.3f} of their pace")
    print(expected_times(found.tasks, found.makespan_s, again.makespan_s, best.makespan_s))


def chart(host: HostResult, until: float) -> str:
    """The width over time, with a column for each part of the run."""
    columns: list[int] = []
    moves = iter([*host.moves, None])
    upcoming, width = next(moves), 0
    for column in range(CHART_COLUMNS):
        end = until * (column + 1) / CHART_COLUMNS
        while upcoming is not None and upcoming.at <= end:
            width, upcoming = upcoming.width, next(moves)
        columns.append(width)
    most = max(columns)
    return "  " + "".join(_BARS[round(8 * width / most)] for width in columns) + f"  (top {most})"
