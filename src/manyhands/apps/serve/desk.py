"""One backlog and its run: when either changes, they are compared and each is told what it does not know yet."""

import asyncio
from collections.abc import Callable, Collection, Sequence

from msgspec.structs import replace

from manyhands.apps.serve.event_log import stamp
from manyhands.apps.serve.live_backlog import BacklogLog, BacklogSteps, LiveBacklog, WantedTasks
from manyhands.apps.serve.timetable import due_of, first_kept, is_unfinished
from manyhands.core.events import (
    AnyEvent,
    AttemptEnded,
    CancelAsked,
    DeferAsked,
    Input,
    ResumeAsked,
    RetryAsked,
    RunOpened,
    RunResumed,
    WorkJudged,
)
from manyhands.core.state import Run
from manyhands.core.values.provenance import Origin
from manyhands.core.values.task import TERMINAL
from manyhands.engine.dispatcher import Dispatcher
from manyhands.engine.run_opening import about_run, new_name, newest_run, opening
from manyhands.errors import ManyhandsError
from manyhands.readers.problems import LISTED_MAX, Problem
from manyhands.sources.config.cron import Schedule
from manyhands.sources.plans.plan_settings import PlanSettings
from manyhands.sources.plans.undeclared_claims import undeclared_note

#: How long a file must stay unchanged before missing tasks count as removed, and how often that is tried.
_DOUBT_S = 0.2
_DOUBTS_MAX = 10
#: After a backlog could not be read or written.
AGAIN_S = 5.0
#: A timer stands still while the machine sleeps, so a schedule is looked at this often at least.
SCHEDULE_LOOK_S = 60.0


class Desk:
    def __init__(
        self, backlog: LiveBacklog, dispatcher: Dispatcher, log: BacklogLog, taken: Callable[[], Collection[str]]
    ) -> None:
        """`taken` gives the runs of other desks: they may have names, but not be in the book yet."""
        self.backlog = backlog
        run = newest_run(dispatcher.book, backlog.source)
        self.run = run.name if run is not None else new_name(dispatcher.book, backlog.name, taken())
        self._taken = taken
        self._dispatcher = dispatcher
        self._log = log
        self._settings: PlanSettings | None = None  # the bounds of its run; None: it has not begun
        self._changed = asyncio.Event()
        self._changed.set()
        self._told: set[object] = set()  # problems that were reported and need not be reported again
        self._problems: list[Problem] = []
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0.0
        backlog.begin(self.run)

    def wanted_at(self, task: str) -> float:
        """When a person last asked for the task to continue."""
        return self._dispatcher.book.runs[self.run].records[task].wanted_at

    def look(self) -> None:
        """The backlog or the results of its tasks may have changed."""
        self._changed.set()

    def recorded(self, batch: Sequence[AnyEvent]) -> None:
        for event in batch:
            match event:
                case AttemptEnded():
                    if self.backlog.claims:
                        self._changed.set()
                case CancelAsked() | RetryAsked() | DeferAsked() | ResumeAsked() | WorkJudged() if (
                    event.run == self.run
                ):
                    self._changed.set()
                case _:
                    pass

    async def work(self) -> None:
        """Runs until it is cancelled."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            await self.compare()

    async def compare(self, last: bool = False) -> None:
        """With `last`, tasks that are held but not done are released for others.

        What goes wrong in one backlog must not end the others: it is reported, and its run stays as it was.
        """
        try:
            await self._compare(last)
        except Exception as error:
            if not self._dispatcher.is_alive:
                raise  # the journal cannot be written: that concerns all of them
            self._tell_failure(error)
            self._look_at(self._dispatcher.clock.now() + AGAIN_S)

    async def _compare(self, last: bool) -> None:
        schedule = None if last else self.backlog.schedule
        if schedule is not None:
            await self._begin_schedule(schedule)
        wanted = await self._read()
        self._tell_problems(wanted.problems)
        if wanted.problems:
            self._look_at(self._dispatcher.clock.now() + AGAIN_S if not wanted.is_known else None)
        if not wanted.is_known:
            return
        if any(task.env for task in wanted.tasks.values()):
            vault = self._dispatcher.vault  # the records that these are compared with have no values of `env`
            wanted = replace(wanted, tasks={id: vault.sealed(task) for id, task in wanted.tasks.items()})
        now = self._dispatcher.clock.now()
        kept: list[Input] = []
        if schedule is not None:
            kept, is_open = self._keep(schedule, now)
            if not is_open:
                await self._carry_out(BacklogSteps(), kept)
                return
        beginning = [] if last else [*kept, *self._beginning(now, wanted.settings)]
        run = self._dispatcher.book.runs.get(self.run)
        steps = self.backlog.reconcile(wanted, run or Run(self.run, 0, "", {}, now), now)
        if last:
            steps.changes += self.backlog.releases(wanted, run.records if run else {})
        await self._carry_out(steps, [] if last else [*beginning, *steps.events])
        self._look_at(wanted.look_at)

    async def _begin_schedule(self, schedule: Schedule) -> None:
        """Its times count although the backlog may not be readable yet."""
        book, now = self._dispatcher.book, self._dispatcher.clock.now()
        kept = first_kept(schedule, self.backlog.source, book, now)
        if kept is not None:
            await self._dispatcher.submit(kept)

    def _keep(self, schedule: Schedule, now: float) -> tuple[list[Input], bool]:
        """What is to be journalled of its schedule, and whether there is a run to compare the backlog with.

        Between the end of a run and the next time there is none: edits wait for the next run.
        """
        book = self._dispatcher.book
        due = due_of(schedule, self.backlog.source, self.run, book, now)
        self._look_at(min(due.next_at, now + SCHEDULE_LOOK_S))
        if due.opens:
            if self.run in book.runs:
                self.run = new_name(book, self.backlog.name, self._taken())
                self.backlog.begin(self.run)
                self._settings = None
        elif due.left_out is not None:
            text = f"no run is opened for {stamp(due.left_out)}, because {self.run} is unfinished"
            self._log("left_out", text, run=self.run)
        return [due.kept] if due.kept is not None else [], due.opens or is_unfinished(book, self.run)

    async def _read(self) -> WantedTasks:
        """If tasks have disappeared, the file may be half written. It counts only after it stays so for a moment."""
        wanted = await asyncio.to_thread(self.backlog.read, self._dispatcher.clock.now())
        for _ in range(_DOUBTS_MAX):
            if wanted.version is None or not self._lacks_any(wanted):
                break
            before = wanted.version
            await asyncio.sleep(_DOUBT_S)
            wanted = await asyncio.to_thread(self.backlog.read, self._dispatcher.clock.now())
            if wanted.version == before:
                break
        return wanted

    def _lacks_any(self, wanted: WantedTasks) -> bool:
        run = self._dispatcher.book.runs.get(self.run)
        return run is not None and any(
            id not in wanted.mentioned
            and record.state not in TERMINAL
            and record.origin not in (Origin.HAND, Origin.STEP)
            for id, record in run.records.items()
        )

    def _beginning(self, now: float, settings: PlanSettings) -> list[Input]:
        """Start its run, or change the bounds of its run."""
        if self._settings == settings:
            return []
        self._settings = settings
        concurrency, fail_fast, weight = settings.concurrency, settings.fail_fast, self.backlog.weight
        about = about_run(self._dispatcher.book, self.run, settings)
        if self.run in self._dispatcher.book.runs:
            return [RunResumed(now, self.run, concurrency, fail_fast, weight, about=about)]
        opened = next(opening(self.run, now, (), self.backlog.source, concurrency, fail_fast, settings.parents))
        assert isinstance(opened, RunOpened)
        return [replace(opened, weight=weight, about=about)]

    def _tell_untaken(self) -> None:
        """Report tasks that no host takes, because they would wait without end."""
        for pool in self._dispatcher.book.ready.pools.values():
            if pool.run.name == self.run and pool.heap and not pool.hosts:
                text = f"no host takes kind {pool.kind} with {pool.form}: such tasks wait until one does"
                self._tell_once((pool.kind, pool.form, pool.host), "problem", text, "")

    def _tell_undeclared(self) -> None:
        """Report once that tasks run one at a time because nothing says what they touch."""
        records = self._dispatcher.book.runs[self.run].records.values()
        if note := undeclared_note(record.task for record in records if record.state not in TERMINAL):
            self._tell_once(undeclared_note, "note", note, hint=self.backlog.claims_hint)

    async def _carry_out(self, steps: BacklogSteps, events: list[Input]) -> None:
        if events:
            await self._dispatcher.submit(*events)
            self._tell_untaken()
            self._tell_undeclared()
        for remark in steps.remarks:
            self._tell_once(remark, "note", remark.text, remark.task)
        changes = list(steps.changes)
        if not changes:
            return
        try:
            verdicts = await asyncio.to_thread(self.backlog.write, changes)
        except ManyhandsError as error:
            text = f"cannot write back: {error.message}"
            self._tell_once(text, "problem", text, hint=error.hint)
            self._look_at(self._dispatcher.clock.now() + AGAIN_S)
            return
        for change, (task, verdict) in zip(changes, verdicts, strict=True):
            verb = type(change).__name__.lower()
            if verdict.holds:
                self._log("wrote", verb, task=task, run=self.run)
            else:
                self._tell_once((task, change), "refused", f"{verb}: {verdict.why}", task)

    def _tell_once(self, what: object, action: str, text: str, task: str = "", **fields: str) -> None:
        if what not in self._told:
            self._told.add(what)
            self._log(action, text, run=self.run, **({"task": task} if task else {}), **fields)

    def _tell_failure(self, error: Exception) -> None:
        where = f"{self.backlog.source}: {type(error).__name__}: {error}"
        self._tell_once(
            (type(error), str(error)),
            "problem",
            f"this backlog cannot be compared with its run: {where}",
            hint="its tasks stay as they were, and other backlogs continue; please report this as a bug",
        )

    def _tell_problems(self, problems: Sequence[Problem]) -> None:
        """Report new problems. A problem that was fixed and comes back is reported again."""
        known, self._problems = self._problems, list(problems)
        new = [problem for problem in problems if problem not in known]
        for problem in new[:LISTED_MAX]:
            line = f" line {problem.line}" if problem.line else ""
            self._log("problem", f"`{problem.file}`{line}: {problem.message}", run=self.run, hint=problem.hint)
        if len(new) > LISTED_MAX:
            self._log("problem", f"… and {len(new) - LISTED_MAX} more", run=self.run)

    def _look_at(self, at: float | None) -> None:
        if at is None or (self._timer is not None and self._timer_at <= at and not self._timer.cancelled()):
            return
        self._stop_timer()
        self._timer_at = at
        delay_s = max(0.0, at - self._dispatcher.clock.now())
        self._timer = asyncio.get_running_loop().call_later(delay_s, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        self._changed.set()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def close(self) -> None:
        self._stop_timer()
