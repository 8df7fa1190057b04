"""What `manyhands run` says at the end of a run, and the exit code that goes with it."""

from collections import Counter

from manyhands.core.state import Record, Run
from manyhands.core.values.ending import total_cost
from manyhands.core.values.task import TERMINAL, TaskState, is_step
from manyhands.engine.observed_peaks import peaks
from manyhands.surfaces.cli.printing import (
    OutputFormat,
    counted,
    duration,
    print_json,
    print_table,
    put,
    put_lines,
    say,
)
from manyhands.surfaces.review.spending import money

#: More than this nobody reads on a screen; the counts are complete all the same.
LISTED_MAX = 50


def exit_code(run: Run) -> int:
    """0 if all is done, 75 if it was stopped on the way and can go on, 1 if anything did not end well."""
    if not _not_done(run):
        return 0
    return 75 if run.unfinished and run.draining else 1


def report(run: Run, now: float, output: OutputFormat) -> None:
    """The time, the peaks and the cost are those since the run was opened or last taken up again."""
    took_s = (run.ended_at or now) - run.bounded_at
    counts = _counts(run)
    total, left = sum(counts.values()), sum(n for state, n in counts.items() if TaskState(state) not in TERMINAL)
    left = left or run.unfinished  # or only what puts a family back
    cost = _cost(run)
    paid = f" · cost {money(cost)}" if cost is not None else ""
    summary = f"run {run.name}: {total} tasks · {counted(counts)} · {duration(took_s)} · peak {run.peak}{paid}"
    if output is OutputFormat.JSON:
        print_json(
            {
                "run": run.name,
                "tasks": total,
                "counts": counts,
                "makespan_s": round(took_s, 6),
                "peak": run.peak,
                "peaks": peaks(run.records.values(), run.bounded_at),
                "cost": cost,
            }
        )
        say(summary)
    elif output is OutputFormat.IDS:
        put_lines(record.task.id for record in _done_in_order(run))
        say(summary)
    else:
        _print_not_done(run)
        put(summary + "\n")
    if left and run.draining:
        say(f"{_tasks(left)} left; the same command goes on from here")
    elif left:
        say(f"{_tasks(left)} left for a person to decide on: `manyhands task --run {run.name}` says why")


def _counts(run: Run) -> dict[str, int]:
    """Of the tasks that someone wanted: steps of a family are how they were done."""
    if not run.families:
        return {str(state): n for state, n in run.counts.items()}
    states = Counter(record.state for record in run.records.values() if not is_step(record.task))
    return {str(state): states[state] for state in TaskState}


def _cost(run: Run) -> float | None:
    tried = [one for record in run.records.values() for one in record.history or () if one.started_at >= run.bounded_at]
    return total_cost(one.ending.cost for one in tried if one.ending is not None)


def _done_in_order(run: Run) -> list[Record]:
    done = [record for record in run.records.values() if record.state is TaskState.DONE and not is_step(record.task)]
    done.sort(key=lambda record: (record.since, record.history[-1].attempt if record.history else 0))
    return done


def _not_done(run: Run) -> list[Record]:
    """Steps of a family that did not end well are told by what became of its members."""
    if run.counts[TaskState.DONE] == len(run.records):
        return []
    return [
        record for record in run.records.values() if record.state is not TaskState.DONE and not is_step(record.task)
    ]


def _print_not_done(run: Run) -> None:
    ended = [
        {"state": str(record.state), "task": record.task.id, "why": record.cause}
        for record in _not_done(run)
        if record.state in TERMINAL
    ]
    if not ended:
        return
    print_table(ended[:LISTED_MAX])
    if len(ended) > LISTED_MAX:
        say(f"{LISTED_MAX} of {len(ended)} shown; `manyhands task --run {run.name}` lists more")


def _tasks(n: int) -> str:
    return "1 task is" if n == 1 else f"{n:,} tasks are"
