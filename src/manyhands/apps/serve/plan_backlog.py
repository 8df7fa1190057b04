"""A plan file as a live backlog: people edit it, and nothing is written to it."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from manyhands.apps.serve.live_backlog import BacklogSteps, TaskVerdict, WantedTasks
from manyhands.apps.serve.reconcile import WhyGone, reconcile
from manyhands.core.state import Record, Run
from manyhands.core.values.host import Family, Host, Route
from manyhands.core.values.task import Task, TaskState, is_same_work
from manyhands.sources.config.cron import Schedule
from manyhands.sources.plans.host_check import check_hosts
from manyhands.sources.plans.plan_reading import PlanRefused, read_plan
from manyhands.sources.plans.undeclared_claims import CLAIMS_HINT


class PlanBacklog:
    claims = False
    claims_hint = CLAIMS_HINT

    def __init__(
        self,
        file: Path,
        weight: float = 1.0,
        hosts: Sequence[Host] = (),
        families: Sequence[Family] = (),
        routes: Sequence[Route] = (),
        schedule: Schedule | None = None,
    ) -> None:
        self.file = file
        self.name = file.stem
        self.source = str(file.resolve())
        self.weight = weight
        self.schedule = schedule
        self._hosts = hosts
        self._families = families
        self._routes = routes
        self._last = WantedTasks({}, is_known=False)
        self._signature: object = None

    def begin(self, run: str) -> None:
        pass

    def watched(self) -> Sequence[Path]:
        # Both the link and its target may change.
        return list(dict.fromkeys((self.file.absolute(), self.file.resolve())))

    def read(self, now: float) -> WantedTasks:
        signature = signature_of(self.file)
        if signature is not None and signature == self._signature:
            return self._last
        try:
            plan = read_plan([self.file])
        except PlanRefused as refused:
            # A half-written file is refused too, so the file may be read again even if it looks unchanged.
            return replace(self._last, problems=tuple(refused.problems))
        self._signature = signature
        tasks = {task.id: task for task in plan.tasks}
        problems = tuple(check_hosts(plan, self._hosts, self._families, self._routes))
        self._last = WantedTasks(tasks, problems, settings=plan.settings, mentioned=tasks, version=signature)
        return self._last

    def reconcile(self, wanted: WantedTasks, run: Run, at: float) -> BacklogSteps:
        return reconcile_plan(wanted, run, at)

    def write(self, changes: Sequence[Any]) -> list[tuple[str, TaskVerdict]]:
        return []

    def releases(self, wanted: WantedTasks, records: Mapping[str, Record]) -> list[Any]:
        return []

    def claim(self, tasks: Mapping[str, float]) -> list[TaskVerdict]:
        return [TaskVerdict(True) for _ in tasks]


def reconcile_plan(
    wanted: WantedTasks, run: Run, at: float, why_gone: WhyGone = lambda id: "it is no longer in the plan"
) -> BacklogSteps:
    """`manyhands serve` does this whenever the plan changes, and `manyhands run` when it starts."""
    return reconcile(wanted, run, at, why_gone, _comes_back)


def _comes_back(record: Record, task: Task) -> bool:
    """A task that ended runs again if its work was edited; one that failed, after any edit."""
    return not is_same_work(task, record.task) or (record.state is TaskState.FAILED and task != record.task)


def signature_of(file: Path) -> tuple[int, int, int] | None:
    """Differs after every change of the file. None if there is no file."""
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
