"""Many hosts under one leader, with a backlog that streams in: how full the hosts were, and what it cost the leader."""

import gc
import resource
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from manyhands.core.commands import StartAttempt
from manyhands.core.events import AnyEvent, AttemptEnded, HostsConfigured, Input
from manyhands.core.scheduler import Scheduler
from manyhands.core.values.host import Host
from manyhands.core.values.task import TaskState
from manyhands.engine.sim.hosts.simulated_host import NEVER, Job
from manyhands.engine.sim.scenario import Scenario, set_stage
from manyhands.engine.sim.simulation import Simulation
from manyhands.engine.sim.spent import Spent
from manyhands.engine.sim.streamed_backlog import StreamedBacklog
from manyhands.errors import UsageError

#: What a leader does itself. The rest is the simulation, which stands for real hosts and submitters.
TURN, ARRIVALS, ENDINGS, STARTS, JOURNAL = "turns", "arrivals", "endings", "starts", "journal"
LEADER = (ARRIVALS, ENDINGS, STARTS, TURN, JOURNAL)
DRAWING, HOSTS = "drawing tasks", "simulated hosts"
PARTS = {
    ("manyhands.core.intake", "submit"): ARRIVALS,
    ("manyhands.core.attempts", "end"): ENDINGS,
    ("manyhands.core.starting", "start_what_may"): STARTS,
    ("manyhands.core.scheduler", "handle"): TURN,
    ("manyhands.engine.store.sqlite.sqlite_store", "append"): JOURNAL,
    ("manyhands.engine.sim.streamed_backlog", "_next_block"): DRAWING,
}


class LoadResult(Struct, frozen=True):
    hosts: int
    slots: int
    tasks: int
    done: int
    makespan_s: float
    peak: int  # in flight
    mean_task_s: float
    utilisation: float | None  # the share of slots in use while tasks waited; None: no task had to wait
    of_ideal: float  # the shortest possible time (no slot ever empty, or the longest task), divided by the time it took
    turns: int
    took_s: float  # on the wall
    cpu_s: float
    cpu_s_of: dict[str, float]  # part → seconds
    memory_bytes: int  # the most the process has held

    @property
    def tasks_per_cpu_s(self) -> float:
        return self.done / self.cpu_s

    @property
    def leader_task_s(self) -> float:
        """Processor time of the leader for one task, from submission to end."""
        spent = sum(self.cpu_s_of.get(part, 0.0) for part in LEADER) if self.cpu_s_of else self.cpu_s
        return spent / self.done if self.done else 0.0

    @property
    def tasks_per_s_max(self) -> float:
        """The rate at which the leader has no time left."""
        return 1 / self.leader_task_s if self.leader_task_s else 0.0

    @property
    def offered_per_s(self) -> float:
        """Endings a second when all slots are full."""
        return self.slots / self.mean_task_s if self.mean_task_s else 0.0

    @property
    def saturating_task_s(self) -> float:
        """With all slots full and tasks shorter than this, the leader cannot keep up."""
        return self.slots * self.leader_task_s


def run_load(
    scenario: Scenario,
    recorded: Callable[[AnyEvent], None] | None = None,
    put_away: Callable[[int], None] | None = None,
) -> LoadResult:
    """`put_away` is called with the number of done tasks whenever a block of them has finished."""
    spent = Spent(PARTS, HOSTS)
    began = time.monotonic()
    with _rarely_collected(), spent.watched():
        load = _Load(scenario, recorded, put_away)
        makespan_s = load.simulation.run()
    ideal_s = max(load.on_slots_s / load.slots, load.longest_s)
    return LoadResult(
        hosts=len(load.simulation.hosts),
        slots=load.slots,
        tasks=load.stream.tasks,
        done=load.done,
        makespan_s=makespan_s,
        peak=load.peak,
        mean_task_s=load.on_slots_s / load.ended if load.ended else 0.0,
        utilisation=load.utilisation,
        of_ideal=ideal_s / makespan_s if makespan_s else 0.0,
        turns=load.turns,
        took_s=time.monotonic() - began,
        cpu_s=spent.seconds,
        cpu_s_of=spent.by_part(),
        memory_bytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024),
    )


class _Load:
    """One run of a scenario whose backlog streams in. It keeps only a few sums."""

    def __init__(
        self,
        scenario: Scenario,
        recorded: Callable[[AnyEvent], None] | None,
        put_away: Callable[[int], None] | None,
    ) -> None:
        stage = set_stage(scenario, Path())
        self.slots = sum(_slots_of(host) for host in stage.hosts)
        self.stream = StreamedBacklog(scenario, stage, self.slots)
        self.turns = 0
        self.peak = 0
        self.ended = 0
        self.on_slots_s = 0.0  # Σ end - Σ start: at the end, the time that slots were in use
        self.longest_s = 0.0
        self.utilisation: float | None = None
        self._in_flight = 0
        self._first_at = NEVER  # when the hosts got their first tasks
        self._recorded = recorded
        self._put_away = put_away
        self.simulation = Simulation(
            Scheduler(), stage.models, self._job_for, self._note, scenario.leader, self._supply
        )
        self.simulation.expect(HostsConfigured(0.0, stage.hosts, scenario.rules))

    @property
    def done(self) -> int:
        under_way = self.simulation.scheduler.book.runs.values()
        return self.stream.done + sum(run.counts[TaskState.DONE] for run in under_way)

    def _supply(self) -> Iterable[Input]:
        simulation = self.simulation
        now = simulation.now
        self.turns += 1
        self.peak = max(self.peak, self._in_flight)
        is_over = bool(simulation.settled)
        events = self.stream.arrive(simulation.scheduler.book, now, simulation.settled)
        if self.stream.waiting and now > self._first_at:  # otherwise hosts are empty because nothing is left to do
            not_told_s = sum(now - event.at for event in simulation.inbox)
            in_use_s = self.on_slots_s + self._in_flight * now - not_told_s
            self.utilisation = in_use_s / (self.slots * (now - self._first_at))
        if is_over and self._put_away is not None:
            self._put_away(self.stream.done)
        return events

    def _job_for(self, order: StartAttempt) -> Job:
        job = self.stream.job_for(order)
        self._first_at = min(self._first_at, self.simulation.now)
        self._in_flight += 1
        self.on_slots_s -= self.simulation.now
        self.longest_s = max(self.longest_s, job.seconds)
        return job

    def _note(self, event: AnyEvent) -> None:
        if type(event) is AttemptEnded:
            self._in_flight -= 1
            self.ended += 1
            self.on_slots_s += event.at
        if self._recorded is not None:
            self._recorded(event)


def _slots_of(host: Host) -> int:
    if host.width.max is None or host.width.min != host.width.max:
        raise UsageError(
            f"host `{host.name}` has no `width`, but a backlog with a `block` needs the number of its slots",
            "give it a `width`",
        )
    return host.width.max


@contextmanager
def _rarely_collected() -> Iterator[None]:
    """As in a live dispatcher: objects live long, so looking at all of them again and again finds no garbage."""
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
