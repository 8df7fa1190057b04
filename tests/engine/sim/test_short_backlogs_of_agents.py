"""Short backlogs of agents through the whole scheduler: a seeded slice of what bench/short_backlogs.py measures."""

from random import Random

from msgspec import Struct

from manyhands.core.commands import StartAttempt
from manyhands.core.events import AnyEvent, AttemptEnded, HostsConfigured, RunOpened, TasksSubmitted
from manyhands.core.scheduler import Scheduler
from manyhands.core.values.ending import EndingKind
from manyhands.core.values.host import Host, Width
from manyhands.core.values.task import TaskState
from manyhands.engine.sim.hosts.random_hosts import random_agents
from manyhands.engine.sim.hosts.reference import AGENTS_CLOSED, AGENTS_ENDED, AGENTS_OPEN, HostModel, build
from manyhands.engine.sim.hosts.simulated_host import Job
from manyhands.engine.sim.scenario import a_task
from manyhands.engine.sim.simulation import Simulation


class Backlog(Struct, frozen=True):
    seconds: float
    done: int
    lost_at: list[float]  # when attempts were turned away


def played(model: HostModel, tasks: int, width: int | None = None) -> Backlog:
    host, random = build(model.parameters), Random(0)
    jobs: dict[str, Job] = {f"t{number}": host.draw(random) for number in range(tasks)}
    lost_at: list[float] = []

    def job_for(order: StartAttempt) -> Job:
        return jobs[order.task.id]

    def watch(event: AnyEvent) -> None:
        if isinstance(event, AttemptEnded) and event.ending.kind is EndingKind.OVERLOADED:
            lost_at.append(event.at)

    simulation = Simulation(Scheduler(), {"h": host}, job_for, watch)
    widths = Width(1, None, model.width_max) if width is None else Width(width, width, width)
    simulation.expect(HostsConfigured(0.0, (Host("h", width=widths, nature=model.nature),)))
    simulation.expect(RunOpened(0.0, "run", 0))
    simulation.expect(TasksSubmitted(0.0, "run", tuple(a_task(id, job) for id, job in jobs.items())))
    simulation.run()
    run = simulation.scheduler.book.runs["run"]
    return Backlog(run.ended_at or simulation.now, run.counts[TaskState.DONE], lost_at)


def test_agents_start_as_wide_as_their_account_bears() -> None:
    ours = played(AGENTS_OPEN, 15)
    assert ours.done == 15
    assert ours.lost_at == []
    assert played(AGENTS_OPEN, 15, width=16).seconds >= 0.92 * ours.seconds


def test_of_sessions_that_an_account_ends_one_burst_is_lost_and_never_again() -> None:
    ours = played(AGENTS_ENDED, 60)
    burst = [at for at in ours.lost_at if at < ours.lost_at[0] + 30]
    assert len(burst) <= 8  # a step from 8 to 16
    later = [at for at in ours.lost_at if at >= ours.lost_at[0] + 30]
    assert all(sum(at <= other < at + 60 for other in later) <= 2 for at in later)
    assert ours.done == 60
    assert played(AGENTS_ENDED, 60, width=12).seconds >= 0.85 * ours.seconds


def test_a_refused_rate_narrows_agents_instead_of_spacing_their_starts() -> None:
    model = random_agents(0)  # bears about four
    ours = played(model, 60)
    assert ours.done == 60
    assert played(model, 60, width=4).seconds >= 0.85 * ours.seconds


def test_an_account_that_closes_for_hours_is_waited_for_and_sessions_are_resumed() -> None:
    ours = played(AGENTS_CLOSED, 60)
    assert ours.done == 60
    assert ours.seconds > 5 * 3600  # its quota is for less than the backlog
    assert played(AGENTS_CLOSED, 60, width=16).seconds >= 0.85 * ours.seconds
