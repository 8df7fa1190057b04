"""Runs one scenario on the core from beginning to end, and measures it."""

from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random
from typing import assert_never

import msgspec
from msgspec import Struct

from manyhands.core.commands import StartAttempt
from manyhands.core.events import (
    AnyEvent,
    AttemptEnded,
    AttemptStarted,
    HostsConfigured,
    RunOpened,
    TasksSubmitted,
    WidthMoved,
)
from manyhands.core.scheduler import Scheduler
from manyhands.core.values.ending import EndingKind
from manyhands.core.values.provenance import Origin, Purpose
from manyhands.core.values.task import TaskState
from manyhands.engine.sim.hosts.simulated_host import Job
from manyhands.engine.sim.scenario import Scenario, ScenarioStage, set_stage
from manyhands.engine.sim.simulation import Simulation

RUN = "sim"


class Move(Struct, frozen=True):
    at: float
    width: int
    reason: str


class HostResult(Struct):
    host: str
    width: int = 0  # at the end
    peak: int = 0
    mean_in_flight: float = 0.0
    done: int = 0
    overloads: int = 0  # refusals and kills
    lost: int = 0
    moves: list[Move] = []


class ScenarioResult(Struct, frozen=True):
    makespan_s: float
    tasks: int
    done: int
    hosts: dict[str, HostResult]

    @property
    def goodput(self) -> float:
        """Tasks done a second."""
        return self.done / self.makespan_s if self.makespan_s else 0.0


def run_trial(
    scenario: Scenario,
    directory: Path,
    pinned: dict[str, int] | None = None,
    recorded: Callable[[AnyEvent], None] | None = None,
) -> ScenarioResult:
    return _played(Scheduler(), scenario, directory, pinned, recorded)


def run_with_memory(scenario: Scenario, directory: Path) -> ScenarioResult:
    """The same backlog once more, with what a run of other tasks of the same mix has taught."""
    earlier = Scheduler()
    _played(earlier, msgspec.structs.replace(scenario, seed=scenario.seed + 1), directory)
    return _played(Scheduler(memory=earlier.book.learned()), scenario, directory)


def _played(
    scheduler: Scheduler,
    scenario: Scenario,
    directory: Path,
    pinned: dict[str, int] | None = None,
    recorded: Callable[[AnyEvent], None] | None = None,
) -> ScenarioResult:
    stage = set_stage(scenario, directory, pinned)
    results = {host.name: HostResult(host.name) for host in stage.hosts}
    host_of: dict[int, str] = {}

    def watch(event: AnyEvent) -> None:
        _note(event, results, host_of)
        if recorded is not None:
            recorded(event)

    simulation = Simulation(scheduler, stage.models, _job_source(scenario, stage), watch, scenario.leader)
    simulation.expect(HostsConfigured(0.0, stage.hosts, scenario.rules))
    simulation.expect(RunOpened(0.0, RUN, scenario.seed, scenario.concurrency, purpose=Purpose.SIMULATION))
    for arrival in stage.arrivals:
        simulation.expect(TasksSubmitted(arrival.at, RUN, arrival.tasks, Origin.PLAN))
    simulation.run()
    book = scheduler.book
    run = book.runs[RUN]
    makespan_s = run.ended_at if run.ended_at is not None else simulation.now
    for name, result in results.items():
        host = book.hosts[name]
        result.width, result.peak = host.width, host.peak
        result.mean_in_flight = host.area / makespan_s if makespan_s else 0.0
    return ScenarioResult(makespan_s, len(run.records), run.counts[TaskState.DONE], results)


def _job_source(scenario: Scenario, stage: ScenarioStage) -> Callable[[StartAttempt], Job]:
    """A drawn task has its own job. A plan's task gets a job of its kind from the host that runs it."""
    random = Random(scenario.seed + 1)

    def job_for(order: StartAttempt) -> Job:
        job = stage.jobs.get(order.task.id)
        if job is None:
            job = stage.jobs[order.task.id] = stage.models[order.host].draw(random, order.task.kind)
        return job

    return job_for


def _note(event: AnyEvent, results: dict[str, HostResult], host_of: dict[int, str]) -> None:
    match event:
        case WidthMoved() if not event.kind:
            results[event.host].moves.append(Move(event.at, event.width, event.reason))
        case AttemptStarted():
            host_of[event.attempt] = event.host
        case AttemptEnded():
            result = results[host_of.pop(event.attempt)]
            _count(result, event.ending.kind)


def _count(result: HostResult, kind: EndingKind) -> None:
    match kind:
        case EndingKind.DONE:
            result.done += 1
        case EndingKind.OVERLOADED:
            result.overloads += 1
        case EndingKind.LOST:
            result.lost += 1
        case EndingKind.FAILED | EndingKind.TIMED_OUT | EndingKind.CANCELLED | EndingKind.PREEMPTED:
            pass
        case _:
            assert_never(kind)


#: First powers of two are tried, then these multiples of the best one.
COARSE = tuple(2**power for power in range(9))
FINE = (0.6, 0.7, 0.8, 0.9, 1.1, 1.25, 1.4)


def best_fixed_widths(
    scenario: Scenario, directory: Path, found: ScenarioResult, tried: Callable[[str, int, float], None]
) -> tuple[dict[str, int], ScenarioResult]:
    """The pinned widths that get the most done, and of those the fastest.

    Each host is swept in turn, while the others stay at their best width so far.
    """
    best = {name: max(1, round(result.mean_in_flight)) for name, result in found.hosts.items()}
    shortest = run_trial(scenario, directory, best)
    for name in found.hosts:
        seen = {best[name]}

        def sweep(name: str, widths: Iterable[int], seen: set[int]) -> None:
            nonlocal best, shortest
            for width in widths:
                if width in seen:
                    continue
                seen.add(width)
                result = run_trial(scenario, directory, best | {name: width})
                tried(name, width, result.makespan_s)
                if (-result.done, result.makespan_s) < (-shortest.done, shortest.makespan_s):
                    shortest, best = result, best | {name: width}

        sweep(name, COARSE, seen)
        sweep(name, [max(1, round(best[name] * part)) for part in FINE], seen)
    return best, shortest
