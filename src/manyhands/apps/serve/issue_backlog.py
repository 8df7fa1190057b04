"""Issues as a live backlog: they are claimed before they run, then closed or blocked with the result."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from manyhands.apps.serve.beads_rules import DEFAULT_RULES, BeadsRules
from manyhands.apps.serve.live_backlog import BacklogSteps, TaskVerdict, WantedTasks, holder_of
from manyhands.apps.serve.reconcile import reconcile
from manyhands.apps.serve.write_back import comes_back, deferrals, is_wanted_again, releases, returned, write_back
from manyhands.core.state import Record, Run
from manyhands.core.values.task import Task, TaskState
from manyhands.errors import ManyhandsError
from manyhands.readers.problems import Problem
from manyhands.sources.beads.beads_reading import Beads
from manyhands.sources.beads.beads_ready import put_off
from manyhands.sources.beads.issue_changes import Change, Claim, IssueOutcome
from manyhands.sources.beads.issue_tasks import tasks_of
from manyhands.sources.beads.times import nanoseconds
from manyhands.sources.config.cron import Schedule
from manyhands.sources.trackers.issue_tracker import IssueTracker


class IssueBacklog:
    claims = True
    schedule: Schedule | None = None  # its entries come one by one
    claims_hint = "list the `files` of an issue, or write `claims = {}` in [[backlogs]] if such issues touch nothing"

    def __init__(
        self,
        tracker: IssueTracker,
        weight: float = 1.0,
        rules: BeadsRules = DEFAULT_RULES,
        store: Path | None = None,
    ) -> None:
        self.name = tracker.name
        self.source = tracker.source
        self.weight = weight
        self._tracker = tracker
        self._rules = rules
        self._store = store or Path()
        self._holder = ""
        self._beads: Beads | None = None  # as last read
        self._signature: object = None
        self._last = WantedTasks({}, is_known=False)

    @property
    def holder(self) -> str:
        return self._holder

    def begin(self, run: str) -> None:
        self._holder = holder_of(run, self._store)
        self._tracker.begin(self._holder)

    def watched(self) -> Sequence[Path]:
        return self._tracker.watched()

    def read(self, now: float) -> WantedTasks:
        signature = self._tracker.signature()
        try:
            if self._beads is None or signature is None or signature != self._signature:
                self._beads, self._signature = self._tracker.load(), signature
                self._last = self._wanted(self._beads, now)
            elif self._last.look_at is not None and self._last.look_at <= now:
                self._last = self._wanted(self._beads, now)
        except ManyhandsError as error:
            problem = Problem(file=self._tracker.label, message=error.message, hint=error.hint)
            return replace(self._last, problems=(problem,), look_at=self._next_look(now, self._last.look_at))
        return self._last

    def _wanted(self, beads: Beads, now: float) -> WantedTasks:
        found = tasks_of(
            beads,
            now,
            like=self._rules.like,
            holder=self._holder,
            kinds=self._rules.kinds,
            conditional=self._rules.conditional,
        )
        later = [at for issue in beads.issues.values() if issue.defer_until and (at := nanoseconds(issue.defer_until))]
        look_at = self._next_look(now, min((at / 1e9 for at in later if at / 1e9 > now), default=None))
        problems = (*self._tracker.warnings, *beads.problems, *found.problems)
        tasks = {task.id: task for task in found.tasks}
        return WantedTasks(tasks, problems, look_at, mentioned=beads.line_of, version=self._signature, snapshot=beads)

    def _next_look(self, now: float, wanted_at: float | None) -> float | None:
        every_s = self._tracker.look_every_s
        if every_s is None:
            return wanted_at
        return now + every_s if wanted_at is None or wanted_at <= now else min(now + every_s, wanted_at)

    def reconcile(self, wanted: WantedTasks, run: Run, at: float) -> BacklogSteps:
        beads: Beads = wanted.snapshot

        def why_gone(id: str) -> str:
            issue = beads.issues.get(id)
            if issue is None:
                return "the issue is gone"
            record = run.records[id]
            if is_wanted_again(record, issue):
                return ""  # it is about to be opened
            if issue.status == "deferred" and (record.state is TaskState.DEFERRED or not record.history):
                return ""  # it waits here as well
            return f"it {put_off(issue, beads.statuses) or 'is not open work any more'}"

        def is_back(record: Record, task: Task) -> bool:
            return comes_back(record, beads.issues[record.task.id])

        ours = {
            id: task
            for id, task in wanted.tasks.items()
            # What is in progress and unknown here is in progress elsewhere, whatever name it has there.
            if id in run.records or beads.issues[id].status != "in_progress"
        }
        steps = reconcile(replace(wanted, tasks=ours), run, at, why_gone, is_back)
        steps.events = [*deferrals(beads, run, at), *returned(beads, run, at), *steps.events]
        changes, remarks = write_back(beads, run.records, self._holder)
        steps.changes += changes
        steps.remarks += remarks
        return steps

    def write(self, changes: Sequence[Change]) -> list[tuple[str, TaskVerdict]]:
        return [(outcome.id, _verdict(outcome)) for outcome in self._tracker.apply(changes)]

    def releases(self, wanted: WantedTasks, records: Mapping[str, Record]) -> list[Any]:
        return list(releases(wanted.snapshot, records, self._holder)) if wanted.is_known else []

    def claim(self, tasks: Mapping[str, float]) -> list[TaskVerdict]:
        claims = [Claim(id, self._holder, wanted_at) for id, wanted_at in tasks.items()]
        return [_verdict(outcome) for outcome in self._tracker.apply(claims)]


def _verdict(outcome: IssueOutcome) -> TaskVerdict:
    return TaskVerdict(outcome.holds, outcome.why)
