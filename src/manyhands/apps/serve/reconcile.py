"""Wanted tasks against the records of the run: what to submit, take over, bring back or cancel. Pure.

Effects happen once because states are compared, never because steps are remembered: after a crash it is done again.
"""

from collections.abc import Callable, Mapping

from msgspec.structs import replace

from manyhands.apps.serve.live_backlog import BacklogSteps, Remark, WantedTasks, unwanted
from manyhands.core import events
from manyhands.core.state import Record, Run
from manyhands.core.values.provenance import CausedBy, Origin
from manyhands.core.values.task import TERMINAL, Task, TaskState, is_same_work
from manyhands.core.values.task_change import with_change
from manyhands.engine.run_opening import TASKS_PER_EVENT

#: Says why a task is no longer wanted.
WhyGone = Callable[[str], str]
#: Says whether a task that ended gets new attempts because the backlog has it again or has changed it.
ComesBack = Callable[[Record, Task], bool]


def reconcile(wanted: WantedTasks, run: Run, at: float, why_gone: WhyGone, comes_back: ComesBack) -> BacklogSteps:
    """Returning tasks first, then edits, then cancels, so that no task is skipped for a need that was dropped."""
    back: list[events.Input] = []
    edits: list[events.Input] = []
    if_it_returns: list[events.Input] = []  # a skipped task comes back with the task that it needs
    cancels: list[events.Input] = []
    new: list[Task] = []
    remarks: list[Remark] = []
    for id, task in wanted.tasks.items():
        record = run.records.get(id)
        if record is None:
            new.append(task)
            continue
        task = _without_what_is_done(with_change(task, record.changed), record, run.records)
        is_changed = task != record.task or record.origin is Origin.HAND
        if record.state is TaskState.RUNNING:
            if is_changed and not is_same_work(task, record.task):
                remarks.append(Remark(id, "has changed while it runs; this attempt continues with the old version"))
        elif record.state is TaskState.SKIPPED:
            if is_changed:
                edited = events.TaskEdited(at, run.name, task, Origin.PLAN)
                (edits if task.needs != record.task.needs else if_it_returns).append(edited)
        elif record.state in TERMINAL:
            if was_taken_away(record) or comes_back(record, task):
                back.append(events.RetryAsked(at, run.name, id, again=record.state is TaskState.DONE))
                if is_changed:
                    edits.append(events.TaskEdited(at, run.name, task, Origin.PLAN))
        elif is_changed:
            edits.append(events.TaskEdited(at, run.name, task, Origin.PLAN))
    edits += if_it_returns if back else ()
    for id, record in run.records.items():
        if id in wanted.tasks or record.state in TERMINAL or record.origin in (Origin.HAND, Origin.STEP):
            continue
        if why := why_gone(id):
            cancels.append(unwanted(at, run.name, id, why))
    submits = [
        events.TasksSubmitted(at, run.name, tuple(new[first : first + TASKS_PER_EVENT]), Origin.PLAN)
        for first in range(0, len(new), TASKS_PER_EVENT)
    ]
    return BacklogSteps([*back, *edits, *submits, *cancels], [], remarks)


def was_taken_away(record: Record) -> bool:
    return record.state is TaskState.CANCELLED and record.cause.by is CausedBy.BACKLOG


def _without_what_is_done(task: Task, record: Record, records: Mapping[str, Record]) -> Task:
    """The backlog may leave out a need that is done. That does not count as a change."""
    known = record.task.needs
    if task.needs == known:
        return task
    left = {need for need in known if (met := records.get(need)) is None or met.state is not TaskState.DONE}
    asked = {need for need in task.needs if (met := records.get(need)) is None or met.state is not TaskState.DONE}
    return replace(task, needs=known) if left == asked else task
