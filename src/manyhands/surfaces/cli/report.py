"""What `manyhands run` prints at the end of a run, and its exit code."""

import shlex
from collections import Counter
from collections.abc import Collection

from manyhands.core.state import Record, Run
from manyhands.core.values.ending import total_cost
from manyhands.core.values.task import TERMINAL, TaskState
from manyhands.engine.observed_peaks import peaks
from manyhands.quantities import how_many_are, quantity
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

#: Nobody reads more than this on a screen. The counts are complete in any case.
LISTED_MAX = 50


def exit_code(run: Run, left_out: Collection[str] = ()) -> int:
    """0 if everything is done, 75 if the run was stopped and can continue, 1 if a task did not succeed.

    Tasks that the plan no longer has, or that the command left out, do not count.
    """
    if not _not_done(run, left_out):
        return 0
    return 75 if run.unfinished and run.draining else 1


def report(run: Run, now: float, output: OutputFormat, left_out: Collection[str] = ()) -> None:
    """The time, the peaks of hosts and the cost count from when the run was opened or last continued."""
    took_s = max(0.0, (run.ended_at or now) - run.bounded_at)
    counts = _counts(run)
    total, left = sum(counts.values()), sum(n for state, n in counts.items() if TaskState(state) not in TERMINAL)
    left = left or run.unfinished  # only steps that revert a family may be left
    cost, cost_in_all = _cost(run, run.bounded_at), _cost(run, run.opened_at)
    figures = [duration(took_s), f"peak {run.peak}", *_paid(cost)]
    if run.bounded_at > run.opened_at:
        this_time = ", ".join([duration(took_s), *_paid(cost)])
        figures = [f"this time {this_time}", ", ".join([f"in all peak {run.peak}", *_paid(cost_in_all)])]
    summary = " · ".join([f"run {run.name}: {quantity(total, 'task')}", counted(counts), *figures])
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
                "cost_in_all": cost_in_all,
            }
        )
        say(summary)
    elif output is OutputFormat.IDS:
        put_lines(record.task.id for record in _done_in_order(run))
        say(summary)
    else:
        _print_not_done(run, left_out)
        put(summary + "\n")
    if left and run.draining:
        say(f"{how_many_are(left, 'task')} left; the same command continues from here")
    elif waiting := run.counts[TaskState.NEEDS_PERSON]:
        say(f"{waiting:,} {'waits' if waiting == 1 else 'wait'} for a person: `manyhands inbox` says for what")
    elif left:
        say(
            f"{how_many_are(left, 'task')} left that only a person can decide on:"
            f" `manyhands task --run {run.name}` says why"
        )


def _counts(run: Run) -> dict[str, int]:
    """Counts the tasks that someone asked for. Steps of a family are only the way to do them."""
    if not run.families:
        return {str(state): n for state, n in run.counts.items()}
    states = Counter(record.state for record in run.records.values() if not record.is_step)
    return {str(state): states[state] for state in TaskState}


def _paid(cost: float | None) -> list[str]:
    return [] if cost is None else [f"cost {money(cost)}"]


def _cost(run: Run, since: float) -> float | None:
    tried = [one for record in run.records.values() for one in record.history or () if one.started_at >= since]
    return total_cost(one.ending.cost for one in tried if one.ending is not None)


def _done_in_order(run: Run) -> list[Record]:
    done = [record for record in run.records.values() if record.state is TaskState.DONE and not record.is_step]
    done.sort(key=lambda record: (record.since, record.history[-1].attempt if record.history else 0))
    return done


def _not_done(run: Run, left_out: Collection[str]) -> list[Record]:
    """Steps of a family are left out: what became of its members tells how they ended."""
    if run.counts[TaskState.DONE] == len(run.records):
        return []
    without = frozenset(left_out)
    return [
        record
        for id, record in run.records.items()
        if record.state is not TaskState.DONE and not record.is_step and id not in without
    ]


def _print_not_done(run: Run, left_out: Collection[str]) -> None:
    ended = [
        {"state": str(record.state), "task": record.task.id, "why": record.cause.why}
        for record in _not_done(run, left_out)
        if record.state in TERMINAL
    ]
    if not ended:
        return
    print_table(ended[:LISTED_MAX])
    if len(ended) > LISTED_MAX:
        say(f"{LISTED_MAX} of {len(ended)} shown; `manyhands task --run {run.name}` lists more")


def say_next(run: Run, left_out: Collection[str]) -> None:
    """What a person types next, after a run that has ended."""
    if run.unfinished:
        return  # the report has said it
    failed = [record.task.id for record in _not_done(run, left_out) if record.state is TaskState.FAILED]
    if not failed:
        say(f"next: `manyhands review {run.name}` tells what happened; `manyhands page` shows it")
        return
    say(
        f"next: `manyhands task log {shlex.quote(failed[0])}` shows its last output\n"
        f"      edit the plan and type the same command: what is done stays done\n"
        f"      or `manyhands task retry --state failed --run {run.name}`, and the same command"
    )
