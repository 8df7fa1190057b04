"""`manyhands run --dry-run`: what would start, in which order and where, and what would not. Nothing is changed.

The scheduler itself says so: it is played forward on a copy of the state, with attempts that all succeed.
"""

import heapq
from collections.abc import Iterator
from typing import NamedTuple

from manyhands.core.commands import AnyCommand, StartAttempt, WakeAt
from manyhands.core.events import AttemptEnded, HostsConfigured, Input, RunDrained, Woke
from manyhands.core.explain import explain
from manyhands.core.scheduler import Scheduler
from manyhands.core.state import Record, Run
from manyhands.core.values.ending import DONE
from manyhands.core.values.task import TaskState
from manyhands.engine.recovery import LOST, seal_records
from manyhands.engine.store.contract.env_vault import EnvVault
from manyhands.errors import StoreBusy
from manyhands.sources.config.config_types import Config
from manyhands.sources.plans.plan_reading import Plan
from manyhands.surfaces.cli.printing import OutputFormat, print_rows, put, say
from manyhands.surfaces.cli.report import LISTED_MAX
from manyhands.surfaces.cli.run_options import RunOptions
from manyhands.surfaces.cli.run_steps import RunSteps, steps_of
from manyhands.surfaces.verbs.store_view import View

#: How long an attempt is assumed to take if nothing of its kind has run on its host.
ASSUMED_S = 60.0


def preview(plan: Plan, source: str, stem: str, options: RunOptions, output: OutputFormat, config: Config) -> int:
    view = View(config)
    if view.is_dispatching:
        raise StoreBusy(
            "another dispatcher works on this store, so nothing else would start", "`manyhands task` shows what it does"
        )
    scheduler, now = view.scheduler(), view.now
    vault = EnvVault(view.directory, keeps=False)
    seal_records(scheduler.book, vault)
    sealed = plan._replace(tasks=vault.sealed_all(plan.tasks))
    steps = steps_of(scheduler.book, sealed, source, stem, options, now)
    for text in steps.said:
        say(text)
    configured = HostsConfigured(now, tuple(view.hosts), tuple(config.rules), tuple(view.families), tuple(view.routes))
    play = _Play(scheduler, now)
    play.step(*_put_right(scheduler, now), configured)
    play.step(*steps.events)
    at_once = len(play.started)
    whys = _reasons(scheduler, steps, now)
    play.to_end()
    _tell(play.started, at_once, whys, scheduler.book.runs.get(steps.run), steps, output)
    return 0


def _put_right(scheduler: Scheduler, now: float) -> Iterator[Input]:
    """As a dispatcher begins: what a dead one had in flight is lost, and other runs wait."""
    for attempt in list(scheduler.book.running):
        yield AttemptEnded(now, attempt, LOST)
    for run in scheduler.book.runs.values():
        if not run.draining:
            yield RunDrained(now, run.name)


class _WouldStart(NamedTuple):
    task: str
    host: str


class _Play:
    """Attempts end one after another, each after its usual time, until nothing more starts."""

    def __init__(self, scheduler: Scheduler, now: float) -> None:
        self.started: list[_WouldStart] = []
        self._scheduler = scheduler
        self._now = now
        self._ends: list[tuple[float, int]] = []
        self._wake_at: float | None = None

    def step(self, *events: Input) -> None:
        if not events:
            return
        for command in self._scheduler.handle(events).commands:
            self._obey(command)

    def to_end(self) -> None:
        """The bound is for a plan that would never end, which nobody needs to see in full."""
        book = self._scheduler.book
        left = 1_000 + 10 * sum(run.unfinished for run in book.runs.values())
        while left and (self._ends or self._wake_at is not None):
            left -= 1
            if self._ends and (self._wake_at is None or self._ends[0][0] <= self._wake_at):
                self._now, attempt = heapq.heappop(self._ends)
                self.step(AttemptEnded(self._now, attempt, DONE))
            elif self._wake_at is not None:
                self._now, self._wake_at = max(self._now, self._wake_at), None
                self.step(Woke(self._now))

    def _obey(self, command: AnyCommand) -> None:
        match command:
            case StartAttempt():
                self.started.append(_WouldStart(command.task.id, command.host))
                lane = self._scheduler.book.hosts[command.host].lanes.get(command.task.kind)
                usual_s = lane.usual_s if lane is not None and lane.usual_s is not None else ASSUMED_S
                heapq.heappush(self._ends, (self._now + usual_s, command.attempt))
            case WakeAt():
                self._wake_at = command.at
            case _:
                pass


def _reasons(scheduler: Scheduler, steps: RunSteps, now: float) -> dict[str, str]:
    """Why each task that waits does not start at once."""
    run = scheduler.book.runs.get(steps.run)
    if run is None:
        return {}
    waiting = (TaskState.READY, TaskState.BLOCKED, TaskState.BACKOFF, TaskState.DEFERRED, TaskState.NEEDS_PERSON)
    return {
        id: _open_needs(run, record) or next(iter(explain(scheduler.book, record, now)), "")
        for id, record in run.records.items()
        if record.state in waiting
    }


def _open_needs(run: Run, record: Record) -> str:
    """Without their states: nothing really runs."""
    if record.state is not TaskState.BLOCKED or not all(need in run.records for need in record.task.needs):
        return ""
    return "needs " + ", ".join(need for need in record.task.needs if run.records[need].state is not TaskState.DONE)


def _tell(
    started: list[_WouldStart],
    at_once: int,
    whys: dict[str, str],
    run: Run | None,
    steps: RunSteps,
    output: OutputFormat,
) -> None:
    rows: list[dict[str, object]] = [
        {"order": place, "task": one.task, "host": one.host, "why": "" if place <= at_once else whys.get(one.task, "")}
        for place, one in enumerate(started, 1)
    ]
    starts = {one.task for one in started}
    left_out = frozenset(steps.left_out)
    never = [
        {"order": None, "task": id, "host": None, "why": f"{record.state}: {whys.get(id) or record.cause.why}"}
        for id, record in (run.records.items() if run is not None else ())
        if id not in starts and id not in left_out and record.state is not TaskState.DONE
    ]
    if output is not OutputFormat.TABLE:
        print_rows(rows if output is OutputFormat.IDS else [*rows, *never], output, "task")
        return
    print_rows([*rows[:LISTED_MAX], *never[:LISTED_MAX]], output, "task")
    if len(rows) > LISTED_MAX or len(never) > LISTED_MAX:
        say("the list is cut; `--output json` prints all of it")
    put(f"{len(rows):,} would start, {at_once:,} of them at once · {len(never):,} would not\n")
