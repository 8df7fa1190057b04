"""Single moments in the life of a dispatcher, set up to the instant in virtual time."""

from engine.sim.story_checks import Promises, check_store, key_of
from helpers import a_host, a_task
from manyhands.core import events as ev
from manyhands.engine.dispatcher import SnapshotPace
from manyhands.engine.sim.dispatched.dispatcher_life import DispatcherLife, Stage
from manyhands.engine.sim.dispatched.simulated_site import Bond, LiveAttempts, SimulatedSite
from manyhands.engine.sim.dispatched.timeline import Timeline
from manyhands.engine.sim.hosts.simulated_host import Job
from manyhands.engine.sim.hosts.timed_host import TimedHost
from manyhands.engine.store.memory_store import MemoryStore

WRITE_S = 1.0


def a_stage(timeline: Timeline, store: MemoryStore) -> Stage:
    """Tasks of ten seconds, a journal that takes a second for each batch, and a snapshot at every close."""
    host = a_host("local", 2)
    attempts = LiveAttempts(lambda attempt: True)
    site = SimulatedSite("local", TimedHost(), Bond.CALL, timeline, attempts, lambda order: Job("", 1.0, seconds=10.0))
    return Stage(
        timeline,
        store,
        {"local": site},
        ev.HostsConfigured(0.0, (host,)),
        thread_times=lambda: (WRITE_S, 0.0),
        snapshots=SnapshotPace(10**9, 1),
    )


def test_a_stop_while_a_batch_is_being_written_saves_a_snapshot_of_what_is_on_disk() -> None:
    timeline, store = Timeline(), MemoryStore()
    life = DispatcherLife(a_stage(timeline, store))
    opened = ev.RunOpened(0.0, "r"), ev.TasksSubmitted(0.0, "r", (a_task("a"), a_task("b")))

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
    check_store(store, asked, {})
