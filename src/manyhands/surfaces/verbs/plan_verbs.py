"""Plans as files or as rows: check them, or add their tasks to a run."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from manyhands.core.state import Run
from manyhands.core.values.task import TERMINAL, Task
from manyhands.engine.hand_added import ADDED_RUN, adding, check_ids
from manyhands.errors import UnknownRun
from manyhands.sources.plans.host_check import check_hosts
from manyhands.sources.plans.plan_figures import PlanFigures, figures_of
from manyhands.sources.plans.plan_reading import Plan, PlanRefused, plan_of_rows, read_plan
from manyhands.sources.plans.undeclared_claims import CLAIMS_HINT, undeclared_claims, undeclared_note
from manyhands.surfaces.verbs.book_view import BookView
from manyhands.surfaces.verbs.request_verbs import Wanted
from manyhands.surfaces.verbs.store_view import command_for, find_run


class HandedIn(NamedTuple):
    """Plan files, or rows with the fields of a task in a plan."""

    files: Sequence[Path] = ()
    rows: Sequence[Mapping[str, Any]] = ()
    rows_from: str = ""  # what an error calls the rows

    def plan(self, view: BookView, run: Run | None = None) -> Plan:
        """The plan is refused whole if anything is wrong with it, or if no host can take one of its tasks."""
        known = run.records if run is not None else {}
        plan = read_plan(self.files) if self.files else plan_of_rows(self.rows, self.rows_from, known)
        if problems := check_hosts(plan, view.hosts, view.families, view.routes):
            raise PlanRefused(problems)
        return plan


def check_plan(view: BookView, handed_in: HandedIn) -> PlanFigures | PlanRefused:
    """The figures of the plan, or everything that is wrong with it."""
    try:
        return figures_of(handed_in.plan(view).tasks)
    except PlanRefused as refused:
        return refused


def checked_row(found: PlanFigures | PlanRefused) -> dict[str, object]:
    if isinstance(found, PlanRefused):
        return {"problems": found.problems, "total": found.total}
    return {"problems": [], "total": 0, **msgspec.to_builtins(found, str_keys=True), "hint": found.hint}


class Added(Struct, frozen=True):
    """The tasks are on disk for the dispatcher that runs now or next."""

    run: str
    tasks: list[str]
    total: int
    done: str
    heard: bool  # true: a dispatcher is running and has heard of them; false: the next one takes them
    note: str = ""  # what would keep them from running side by side, and the fix


def add(view: BookView, handed_in: HandedIn, to: str | None) -> Wanted[Added]:
    """Add tasks to that run, or to the run `added` that holds all tasks without a run of their own."""
    run = _target(view, to)
    plan = handed_in.plan(view, run)
    check_ids(plan.tasks, run)
    tasks = plan.tasks
    name = run.name if run is not None else ADDED_RUN
    note = "; ".join(each for each in (not_taken(plan), _note(tasks, run)) if each)

    def answer(heard: bool) -> Added:
        done = _added_to(name, len(tasks))
        if not heard:
            done += f"; `{command_for(run) if run is not None else 'manyhands serve'}` will run "
            done += "it" if len(tasks) == 1 else "them"
        return Added(name, [task.id for task in tasks], len(tasks), done, heard, note)

    return Wanted(adding(name, view.now, tasks), answer)


def not_taken(plan: Plan) -> str:
    """The settings of a plan are for a run of its own: tasks that join a run leave them behind."""
    names = list(msgspec.to_builtins(plan.settings))
    if not names:
        return ""
    which = f"{', '.join(f'`{name}`' for name in names)} of `[plan]` {'is' if len(names) == 1 else 'are'} not taken"
    return f"{which}, because the tasks join a run; `manyhands run {plan.source}` opens a run with the settings"


def _note(tasks: Sequence[Task], run: Run | None) -> str:
    if not undeclared_claims(tasks):
        return ""
    waiting = [] if run is None else [each.task for each in run.records.values() if each.state not in TERMINAL]
    note = undeclared_note([*waiting, *tasks])
    return f"{note}; {CLAIMS_HINT}" if note else ""


def _added_to(run: str, tasks: int) -> str:
    return f"{tasks} {'task' if tasks == 1 else 'tasks'} added to run {run}"


def _target(view: BookView, to: str | None) -> Run | None:
    """None: the run `added` that does not exist yet."""
    book = view.book_if_any
    if to is None:
        return book.runs.get(ADDED_RUN) if book is not None else None
    if book is None:
        raise UnknownRun(f"there is no run `{to[:100]}`: nothing has been run here yet", "leave the run out")
    return find_run(book, to)
