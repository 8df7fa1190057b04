"""A Beads backlog as a live one: issues are claimed before they run, then closed or blocked with the result."""

import os
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from manyhands.apps.serve.beads_rules import DEFAULT_RULES, BeadsRules
from manyhands.apps.serve.live_backlog import BacklogSteps, TaskVerdict, WantedTasks
from manyhands.apps.serve.plan_backlog import signature_of
from manyhands.apps.serve.reconcile import reconcile
from manyhands.apps.serve.write_back import comes_back, deferrals, is_wanted_again, releases, returned, write_back
from manyhands.core.state import Record, Run
from manyhands.core.values.task import Task, TaskState
from manyhands.errors import ManyhandsError
from manyhands.readers.name_rules import is_good_name
from manyhands.readers.problems import Problem
from manyhands.sources.beads.beads_finding import BeadsPlace, Mode, find
from manyhands.sources.beads.beads_loading import load, writer_for
from manyhands.sources.beads.beads_reading import Beads
from manyhands.sources.beads.beads_ready import put_off
from manyhands.sources.beads.issue_changes import BacklogWriter, Change, Claim, IssueOutcome
from manyhands.sources.beads.issue_tasks import tasks_of
from manyhands.sources.beads.times import nanoseconds

#: Beside a database: what `bd` writes when an issue changes. If it does not, the slow full look finds the change.
_WRITTEN_BY_BD = ("interactions.jsonl", "last-touched", "export-state.json")


class BeadsBacklog:
    claims = True
    claims_hint = (
        "list the files of an issue in its metadata, as `files`, or write `claims = {}` in [[backlogs]] if such issues"
        " touch nothing"
    )

    def __init__(
        self,
        path: Path,
        weight: float = 1.0,
        rules: BeadsRules = DEFAULT_RULES,
        store: Path | None = None,
        program: str = "bd",
    ) -> None:
        self.place: BeadsPlace = find(path)
        directory = self.place.directory.resolve()
        self.name = directory.parent.name if is_good_name(directory.parent.name) else "beads"
        self.source = str(directory)
        self.weight = weight
        self._rules = rules
        self._program = program
        self._writer: BacklogWriter = writer_for(self.place, program)
        self._store = store or Path()
        self._holder = ""
        self._beads: Beads | None = None  # as last read, and the source it was read from
        self._signature: object = None
        self._last = WantedTasks({}, is_known=False)

    @property
    def holder(self) -> str:
        return self._holder

    def begin(self, run: str) -> None:
        # Runs of other stores and machines may have the same names. What they hold is not ours.
        whose = sha256(f"{os.uname().nodename}:{self._store.resolve()}".encode()).hexdigest()[:8]
        self._holder = f"manyhands-{run}-{whose}"

    def watched(self) -> Sequence[Path]:
        file = (self.place.file or self.place.directory / "issues.jsonl").absolute()
        beside = [file.parent / name for name in _WRITTEN_BY_BD] if self.place.mode is Mode.BD else []
        return list(dict.fromkeys((file, file.resolve(), *beside)))

    def read(self, now: float) -> WantedTasks:
        # The export of a database does not show changes, so the database is asked every time.
        signature = signature_of(self.place.file) if self.place.file and self.place.mode is Mode.FILE else None
        try:
            if self._beads is None or signature is None or signature != self._signature:
                self._beads, self._signature = load(self.place, self._program), signature
                self._last = self._wanted(self._beads, now)
            elif self._last.look_at is not None and self._last.look_at <= now:
                self._last = self._wanted(self._beads, now)
        except ManyhandsError as error:
            problem = Problem(file=self.place.name, message=error.message, hint=error.hint)
            return replace(self._last, problems=(problem,))
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
        look_at = min((at / 1e9 for at in later if at / 1e9 > now), default=None)
        problems = (*self.place.warnings, *beads.problems, *found.problems)
        tasks = {task.id: task for task in found.tasks}
        return WantedTasks(tasks, problems, look_at, mentioned=beads.line_of, version=self._signature, snapshot=beads)

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

        steps = reconcile(wanted, run, at, why_gone, is_back)
        steps.events = [*deferrals(beads, run, at), *returned(beads, run, at), *steps.events]
        changes, remarks = write_back(beads, run.records, self._holder)
        steps.changes += changes
        steps.remarks += remarks
        return steps

    def write(self, changes: Sequence[Change]) -> list[tuple[str, TaskVerdict]]:
        return [(outcome.id, _verdict(outcome)) for outcome in self._writer.apply(changes)]

    def releases(self, wanted: WantedTasks, records: Mapping[str, Record]) -> list[Any]:
        return list(releases(wanted.snapshot, records, self._holder)) if wanted.is_known else []

    def claim(self, tasks: Mapping[str, float]) -> list[TaskVerdict]:
        claims = [Claim(id, self._holder, wanted_at) for id, wanted_at in tasks.items()]
        return [_verdict(outcome) for outcome in self._writer.apply(claims)]


def _verdict(outcome: IssueOutcome) -> TaskVerdict:
    return TaskVerdict(outcome.holds, outcome.why)
