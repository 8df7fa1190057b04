"""Plays short backlogs on one simulated host through the whole scheduler, one run after another."""

import math
from collections.abc import Sequence
from random import Random

from msgspec import Struct
from msgspec.structs import replace

from manyhands.core.commands import StartAttempt
from manyhands.core.events import AnyEvent, AttemptEnded, HostsConfigured, RunOpened, TasksSubmitted
from manyhands.core.learning import Memory
from manyhands.core.scheduler import Scheduler
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.host import Host, Rate, Width
from manyhands.core.values.task import TaskState
from manyhands.engine.sim.hosts.reference import HostModel, build
from manyhands.engine.sim.hosts.simulated_host import Job
from manyhands.engine.sim.scenario import a_task
from manyhands.engine.sim.simulation import Simulation

RUN = "backlog"
#: The widths that are tried to find the best fixed one.
WIDTHS = (1, 2, 3, 4, 6, 8, 11, 16, 22, 32, 45, 64, 90, 128)
#: A sweep ends after this many widths in a row that took this much longer than the best.
WORSE_TIMES, WORSE_MAX = 1.3, 3


class BacklogRun(Struct, frozen=True):
    """One backlog: which tasks are drawn, and on what they run. Equal backlogs get equal tasks at every width."""

    model: HostModel
    tasks: int
    seed: int
    number: int = 0  # of the run: later runs have other tasks
    of_other_kinds: bool = False  # the same tasks, shorter and under other names


class PlayedBacklog(Struct, frozen=True):
    seconds: float  # infinite where a task was given up: that is no way to be fast
    attempts: int
    lost_at: tuple[float, ...]  # when attempts were refused or killed, in seconds; not by an account that closed
    kills: int

    @property
    def overloads(self) -> float:
        """Per attempt."""
        return len(self.lost_at) / self.attempts if self.attempts else 0.0


def play(backlogs: Sequence[BacklogRun], width: int | None = None, rate: Rate | None = None) -> list[PlayedBacklog]:
    """One after another, each with what the runs before it have taught.

    The host itself is a new one each time: its budgets and its account have long recovered.
    """
    memory = Memory()
    played: list[PlayedBacklog] = []
    for backlog in backlogs:
        scheduler = Scheduler(memory=memory)
        played.append(_play(scheduler, backlog, width, rate))
        memory = scheduler.book.learned()
    return played


def _play(scheduler: Scheduler, backlog: BacklogRun, width: int | None, rate: Rate | None) -> PlayedBacklog:
    model = backlog.model
    host = build(model.parameters)
    random = Random(backlog.seed * 1009 + backlog.number)
    jobs = {f"t{n}": host.draw(random) for n in range(backlog.tasks)}
    if backlog.of_other_kinds:
        jobs = {id: _of_another_kind(job) for id, job in jobs.items()}
    ended: list[AttemptEnded] = []

    def job_for(order: StartAttempt) -> Job:
        return jobs[order.task.id]

    def watch(event: AnyEvent) -> None:
        if isinstance(event, AttemptEnded):
            ended.append(event)

    simulation = Simulation(scheduler, {"h": host}, job_for, watch)
    widths = Width(1, None, model.width_max) if width is None else Width(width, width, width)
    configured = Host("h", width=widths, rate=rate, nature=model.nature, streams=host.shows_output, model=model.name)
    simulation.expect(HostsConfigured(0.0, (configured,)))
    simulation.expect(RunOpened(0.0, RUN, backlog.seed))
    simulation.expect(TasksSubmitted(0.0, RUN, tuple(a_task(id, job) for id, job in jobs.items())))
    simulation.run()
    played = scheduler.book.runs[RUN]
    is_done = played.counts[TaskState.DONE] == backlog.tasks
    return PlayedBacklog(
        seconds=played.ended_at or simulation.now if is_done else math.inf,
        attempts=len(ended),
        lost_at=tuple(event.at for event in ended if _is_overload(event.ending)),
        kills=host.kills,
    )


def _is_overload(ending: Ending) -> bool:
    """A closed account ends everything in flight, at any width: that is not an overload."""
    return ending.kind is EndingKind.OVERLOADED and not ending.quota


def _of_another_kind(job: Job) -> Job:
    short = 0.4
    return replace(
        job,
        kind=f"other-{job.kind}",
        work=short * job.work,
        tokens_out=short * job.tokens_out,
        seconds=short * job.seconds,
        memory_bytes=short * job.memory_bytes,
    )


def best_fixed_s(backlog: BacklogRun) -> tuple[float, int]:
    """How long it takes at the best fixed width, found by trying, and that width."""
    best_s, best, worse = math.inf, 1, 0
    for width in (width for width in WIDTHS if width <= min(1.5 * backlog.tasks, backlog.model.width_max)):
        took_s = play([backlog], width)[0].seconds
        if took_s < best_s:
            best_s, best = took_s, width
        worse = worse + 1 if WORSE_TIMES * best_s < took_s < math.inf else 0
        if worse == WORSE_MAX:
            break
    return best_s, best
