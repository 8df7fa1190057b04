"""Plans handed in, as files or as rows: checked, and added to a run."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from manyhands.core.state import Run
from manyhands.engine.hand_added import ADDED_RUN, adding, check_ids, labelled
from manyhands.errors import UsageError
from manyhands.sources.config.config_types import Config
from manyhands.sources.plans.host_check import check_hosts
from manyhands.sources.plans.plan_figures import PlanFigures, figures_of
from manyhands.sources.plans.plan_reading import Plan, PlanRefused, plan_of_rows, read_plan
from manyhands.surfaces.verbs.request_verbs import ask
from manyhands.surfaces.verbs.store_view import View, command_for, find_run


class HandedIn(NamedTuple):
    """Plan files, or rows with the fields of a plan's task."""

    files: Sequence[Path] = ()
    rows: Sequence[Mapping[str, Any]] = ()
    rows_from: str = ""  # what the rows are called where something is wrong with them

    def plan(self, config: Config, run: Run | None = None) -> Plan:
        """Refused whole if anything is wrong with it, or if no host can take one of its tasks."""
        known = run.records if run is not None else {}
        plan = read_plan(self.files) if self.files else plan_of_rows(self.rows, self.rows_from, known)
        if problems := check_hosts(plan, config.core_hosts(), config.core_families(), config.core_routes()):
            raise PlanRefused(problems)
        return plan


def check_plan(config: Config, handed_in: HandedIn) -> PlanFigures | PlanRefused:
    """What it amounts to, or all that is wrong with it."""
    try:
        return figures_of(handed_in.plan(config).tasks)
    except PlanRefused as refused:
        return refused


def checked_row(found: PlanFigures | PlanRefused) -> dict[str, object]:
    if isinstance(found, PlanRefused):
        return {"problems": found.problems, "total": found.total}
    return {"problems": [], "total": 0, **msgspec.to_builtins(found, str_keys=True), "hint": found.hint}


class Added(Struct, frozen=True):
    """On disk, for whoever dispatches."""

    run: str
    tasks: list[str]
    done: str
    heard: bool  # by a dispatcher that is at work now; else the next one takes them up


def add(view: View, handed_in: HandedIn, to: str | None) -> Added:
    """To that run, or to the one of all that is added to no other."""
    run = _target(view, to)
    plan = handed_in.plan(view.config, run)
    check_ids(plan.tasks, run)
    tasks = labelled(plan.tasks)
    name = run.name if run is not None else ADDED_RUN
    heard = ask(view, adding(name, time.time(), tasks))
    done = added_to(name, len(tasks))
    if not heard:
        done += f"; it will be taken up by `{command_for(run) if run is not None else 'manyhands serve'}`"
    return Added(name, [task.id for task in tasks], done, heard)


def added_to(run: str, tasks: int) -> str:
    return f"{tasks} {'task' if tasks == 1 else 'tasks'} added to run {run}"


def _target(view: View, to: str | None) -> Run | None:
    """None: the run of what is added to no other, which is yet to be opened."""
    book = view.book_if_any
    if to is None:
        return book.runs.get(ADDED_RUN) if book is not None else None
    if book is None:
        raise UsageError(f"there is no run `{to}`: nothing has been run here yet", "leave `--to` out")
    return find_run(book, to)
