"""Single moments in the life of a dispatcher, set up to the instant in virtual time."""

from random import Random

from engine.sim.story_checks import Promises, StoreCheck, key_of
from helpers import a_host, a_task, writes
from manyhands.core import events as ev
from manyhands.core.commands import StartAttempt
from manyhands.core.events import AnyEvent
from manyhands.core.scheduler import Scheduler
from manyhands.core.values.provenance import Origin, Purpose
from manyhands.engine.dispatcher import SnapshotPace
from manyhands.engine.sim.dispatched.dispatcher_life import DispatcherLife, SimulatedWorld
from manyhands.engine.sim.dispatched.simulated_site import Bond, LiveAttempts, SimulatedSite
from manyhands.engine.sim.dispatched.timeline import Timeline
from manyhands.engine.sim.hosts.simulated_host import Job
from manyhands.engine.sim.hosts.timed_host import TimedHost
from manyhands.engine.sim.simulation import Simulation
from manyhands.engine.store.memory_store import MemoryStore

WRITE_S = 1.0


def test_without_faults_the_dispatcher_starts_what_the_bare_simulation_starts_at_the_same_time() -> None:
    hosts = (a_host("a", 3), a_host("b", 2, kinds=("code",)))
    random = Random(7)
    tasks = tuple(a_task(f"t{n}", kind=random.choice(("code", "text")), claims=writes(f"p{n % 9}")) for n in range(200))
    opened = (ev.RunOpened(1.0, "r", seed=5, purpose=Purpose.PLAN), ev.TasksSubmitted(1.0, "r", tasks, Origin.PLAN))

    def job_for(order: StartAttempt) -> Job:
        return Job("", 1.0, seconds=Random(order.task.id).uniform(1, 9))

    bare: list[AnyEvent] = []
    simulation = Simulation(Scheduler(), {host.name: TimedHost() for host in hosts}, job_for, bare.append)
    for event in (ev.HostsConfigured(0.0, hosts), *opened):
        simulation.expect(event)
    simulation.run()

    timeline, store, attempts = Timeline(), MemoryStore(), LiveAttempts(lambda attempt: True)
    sites = {host.name: SimulatedSite(host.name, TimedHost(), Bond.CALL, timeline, attempts, job_for) for host in hosts}
    life = DispatcherLife(SimulatedWorld(timeline, store, sites, ev.HostsConfigured(0.0, hosts)))

    async def work() -> None:
        assert life.dispatcher is not None
        await life.dispatcher.submit(*opened)
        await life.dispatcher.wait_settled("r")
        life.close()

    timeline.plan(1.0, lambda: life.do(work()))
    life.run()
    whole = [event for _, event in store.open_reader().read()]
    starts = [[event for event in told if isinstance(event, ev.AttemptStarted)] for told in (bare, whole)]
    assert len(starts[0]) == 200
    assert starts[0] == starts[1]


def a_world(timeline: Timeline, store: MemoryStore) -> SimulatedWorld:
    """Tasks of ten seconds, a journal that takes a second for each batch, and a snapshot at every close."""
    host = a_host("local", 2)
    attempts = LiveAttempts(lambda attempt: True)
    site = SimulatedSite("local", TimedHost(), Bond.CALL, timeline, attempts, lambda order: Job("", 1.0, seconds=10.0))
    return SimulatedWorld(
        timeline,
        store,
        {"local": site},
        ev.HostsConfigured(0.0, (host,)),
        thread_times=lambda: (WRITE_S, 0.0),
        snapshots=SnapshotPace(10**9, 1),
    )


def test_a_stop_while_a_batch_is_being_written_saves_a_snapshot_of_what_is_on_disk() -> None:
    timeline, store = Timeline(), MemoryStore()
    life = DispatcherLife(a_world(timeline, store))
    tasks = (a_task("a"), a_task("b"))
    opened = ev.RunOpened(0.0, "r", purpose=Purpose.PLAN), ev.TasksSubmitted(0.0, "r", tasks, Origin.PLAN)

    async def submit() -> None:
        assert life.dispatcher is not None
        await life.dispatcher.submit(*opened)

    timeline.plan(2.0, lambda: life.do(submit()))
    # The loop of a life looks once a second whether to close: this close comes while the batch is on its way to disk.
    timeline.plan(2.5, life.close)
    life.run()
    asked = Promises()
    asked.submitted.update(key_of(event) for event in opened)
    assert store.snapshots
    assert [type(event).__name__ for _, event in store.open_reader().read()].count("AttemptStarted") == 2
    StoreCheck(store, asked).check()
