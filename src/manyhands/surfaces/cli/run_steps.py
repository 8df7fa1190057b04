"""What `manyhands run` has to do: a plan against the newest run of it. Nothing happens here yet."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from manyhands.apps.serve.live_backlog import WantedTasks
from manyhands.apps.serve.plan_backlog import reconcile_plan
from manyhands.core.book import Book
from manyhands.core.events import Input, RetryAsked, RunResumed, TaskEdited, TasksSubmitted
from manyhands.core.state import Run
from manyhands.core.values.provenance import Origin
from manyhands.core.values.task import Task, TaskState
from manyhands.engine.run_opening import about_run, new_name, newest_run, opening
from manyhands.errors import UsageError
from manyhands.quantities import how_many_are, how_many_were
from manyhands.readers.problems import did_you_mean
from manyhands.sources.plans.plan_reading import Plan
from manyhands.surfaces.cli.run_options import RunOptions
from manyhands.surfaces.verbs.task_choice import ids_like

#: More ids than this are not listed in a sentence.
NAMED_MAX = 5


class RunSteps(NamedTuple):
    run: str
    events: list[Input]  # empty: there is nothing to do
    said: list[str]  # for the person who typed the command
    left_out: Collection[str]  # tasks of the run that the plan or `--only` does not have


def steps_of(book: Book, plan: Plan, source: str, stem: str, options: RunOptions, now: float) -> RunSteps:
    """Open a run of the plan, or continue the newest one: done and unchanged tasks stay done."""
    wanted = _chosen(plan.tasks, options.only)
    concurrency = options.concurrency if options.concurrency is not None else plan.settings.concurrency
    fail_fast = options.fail_fast or plan.settings.fail_fast
    run = None if options.again else newest_run(book, source)
    if run is None:
        name = new_name(book, plan.settings.name or stem)
        parents = plan.settings.parents
        about = about_run(book, name, plan.settings)
        bounds = (concurrency, fail_fast, parents)
        opened = opening(name, now, wanted.values(), source, *bounds, max_cost=options.max_cost, about=about)
        return RunSteps(name, list(opened), [], ())
    planned = {task.id for task in plan.tasks}

    def why_gone(id: str) -> str:
        return "`--only` leaves it out" if id in planned else "it is no longer in the plan"

    steps = reconcile_plan(WantedTasks(wanted), run, now, why_gone)
    gone = [
        id for id, record in run.records.items() if id not in wanted and record.origin not in (Origin.HAND, Origin.STEP)
    ]
    said = [*_told_gone([id for id in gone if id not in planned]), *_told_of_troubled(run, wanted, steps.events)]
    if not steps.events and not run.unfinished:
        idle = (
            f"nothing to do: the tasks of run {run.name} have ended and were not edited; `--again` runs all of it again"
        )
        return RunSteps(run.name, [], [idle, *said], gone)
    about = about_run(book, run.name, plan.settings)
    resumed = RunResumed(now, run.name, concurrency, fail_fast, max_cost=options.max_cost, about=about)
    return RunSteps(run.name, [resumed, *steps.events], [*_told(run, steps.events), *said], gone)


def _chosen(tasks: Sequence[Task], only: Sequence[str]) -> dict[str, Task]:
    """The tasks that match, and the tasks that they need; all of them if no pattern is given."""
    by_id = {task.id: task for task in tasks}
    if not only:
        return by_id
    chosen: dict[str, None] = {}
    for pattern in only:
        found = ids_like(pattern, by_id)
        if not found:
            hint = did_you_mean(pattern, by_id) or f"its tasks are {_named(list(by_id))}"
            raise UsageError(f"no task of the plan matches `--only {pattern}`", hint)
        chosen |= dict.fromkeys(found)
    waiting = list(chosen)
    for id in waiting:  # grows as it is walked
        needed = [need for need in by_id[id].needs if need not in chosen]
        chosen |= dict.fromkeys(needed)
        waiting += needed
    return {id: task for id, task in by_id.items() if id in chosen}


def _told(run: Run, events: Sequence[Input]) -> list[str]:
    finished = len(run.records) - run.unfinished
    said = [f"run {run.name} continues: {finished} of {how_many_were(len(run.records), 'task')} finished"]
    new = [task.id for event in events if isinstance(event, TasksSubmitted) for task in event.tasks]
    edited = [event.task.id for event in events if isinstance(event, TaskEdited)]
    back = [event.task for event in events if isinstance(event, RetryAsked) and event.task not in edited]
    for ids, told in ((edited, "changed"), (new, "new"), (back, "back in the plan")):
        if ids:
            said.append(f"note: {how_many_are(len(ids), 'task')} {told}: {_named(ids)}")
    return said


def _told_gone(ids: Sequence[str]) -> list[str]:
    return [f"note: {how_many_are(len(ids), 'task')} no longer in the plan: {_named(ids)}"] if ids else []


def _told_of_troubled(run: Run, wanted: Mapping[str, Task], events: Sequence[Input]) -> list[str]:
    """Tasks that ended badly and stay as they are, because nothing about them was edited."""
    comes_back = {event.task for event in events if isinstance(event, RetryAsked)}
    said: list[str] = []
    for state in (TaskState.FAILED, TaskState.CANCELLED):
        ids = [
            id
            for id, record in run.records.items()
            if record.state is state and id in wanted and id not in comes_back and not record.is_step
        ]
        if ids:
            said.append(
                f"note: {how_many_are(len(ids), 'task')} {state} and not edited since: {_named(ids)}\n"
                f"hint: `manyhands task retry --state {state} --run {run.name}`, then the same command, runs "
                f"{'it' if len(ids) == 1 else 'them'} again"
            )
    return said


def _named(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - NAMED_MAX:,} more" if len(ids) > NAMED_MAX else ""
    return ", ".join(ids[:NAMED_MAX]) + more
