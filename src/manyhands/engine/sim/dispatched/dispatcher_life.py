"""One life of a dispatcher in a simulated world: from recovery to a clean close, a failure, or sudden death."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from manyhands.core.events import AnyEvent, HostsConfigured
from manyhands.core.values.host import ProcessHandle
from manyhands.engine.clock import Clock
from manyhands.engine.delivery.delivering import Delivering
from manyhands.engine.delivery.sink_opening import OpenSinks
from manyhands.engine.dispatcher import SNAPSHOTS, Dispatcher, SnapshotPace
from manyhands.engine.probing import Probing
from manyhands.engine.session import Surroundings, dispatching_on
from manyhands.engine.sim.dispatched.process_life import ProcessLife
from manyhands.engine.sim.dispatched.simulated_journal import SimulatedJournal
from manyhands.engine.sim.dispatched.simulated_sink import SimulatedSink, SinkLink
from manyhands.engine.sim.dispatched.simulated_site import SimulatedSite, SiteExecutor
from manyhands.engine.sim.dispatched.timeline import Timeline
from manyhands.engine.sim.dispatched.virtual_loop import ThreadTimes, VirtualLoop, no_time
from manyhands.engine.store.contract.journal import Journal
from manyhands.engine.store.memory_store import MemoryStore
from manyhands.errors import ManyhandsError
from manyhands.hosts.executors.executor import Asked, Ended, Executor, ProcessSpawned, Retried, Showed
from manyhands.hosts.executors.process import NO_PROCESS
from manyhands.hosts.probes.probe import Probe
from manyhands.sources.config.route_config import RouteConfig

#: How often a life checks whether its dispatcher still works.
LOOK_EVERY_S = 1.0


def unguarded(journal: Journal, dispatcher: Dispatcher) -> AbstractContextManager[None]:
    """Simulated attempts have no processes."""
    return nullcontext()


def nothing_happens(deed: str) -> None:
    pass


class SimulatedWorld(NamedTuple):
    """The world that outlives dispatchers, as one of them finds it."""

    timeline: Timeline
    store: MemoryStore
    sites: Mapping[str, SimulatedSite]
    configured: HostsConfigured
    probes: Mapping[str, Probe | None] = {}  # of hosts whose width the clutch sets
    routes: Mapping[str, RouteConfig] = {}
    sinks: Mapping[tuple[str, str], SimulatedSink] = {}
    wall_ahead_s: float = 0.0  # what the wall clock shows beyond the timeline
    thread_times: ThreadTimes = no_time
    snapshots: SnapshotPace = SNAPSHOTS
    all_runs_go_on: bool = True
    acting: Callable[[str], None] = nothing_happens  # called before each action; the dispatcher may die there
    recorded: Callable[[Dispatcher, Sequence[AnyEvent]], None] = lambda dispatcher, batch: None


class DispatcherLife(ProcessLife):
    def __init__(self, world: SimulatedWorld) -> None:
        super().__init__()
        self.dispatcher: Dispatcher | None = None  # once it has recovered
        self.failure: Exception | None = None
        self._world = world
        self._loop = VirtualLoop(world.timeline, world.thread_times)
        self._loop.set_exception_handler(self._note_broken)
        self._broken: list[BaseException] = []
        self._closing = self._loop.create_future()
        self._executors: list[SiteExecutor] = []

    def run(self) -> None:
        """Run until this life ends. Whatever the world does meanwhile happens inside this call."""
        main = self._loop.create_task(self._main())
        main.add_done_callback(self._stop)
        try:
            self._loop.run_forever()
        finally:
            main.remove_done_callback(self._stop)
            self._bury()
            self._loop.close()
        if not self.is_dead:
            main.result()
        if self._broken:
            raise self._broken[0]

    def do(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something in the dispatcher's process."""
        self._loop.create_task(work).add_done_callback(self._note_failed)

    def close(self) -> None:
        """Stop it once, as a person does."""
        if not self._closing.done():
            self._closing.set_result(None)

    def crash(self) -> None:
        """Kill it, as `kill -9` does. Nothing it does from now on has any effect."""
        if not self.is_dead:
            self.is_dead = True
            self._world.store.dispatcher = None
            for executor in self._executors:
                executor.lose_dispatcher()
            self._loop.stop()

    def _stop(self, main: "asyncio.Task[None]") -> None:
        self._loop.stop()

    def _bury(self) -> None:
        """End what is left of the process outside the world, so that nothing of it stays in ours."""
        self._loop.cut_off()
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()
        if left:
            self._loop.run_until_complete(asyncio.wait(left))

    def _note_failed(self, task: "asyncio.Task[None]") -> None:
        if not task.cancelled() and (error := task.exception()) is not None and not self.is_dead:
            self._broken.append(error)

    def _note_broken(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """A callback failed, or a task that nobody waits for. In a live process that would be a line in a log."""
        if not self.is_dead:
            self._broken.append(context.get("exception") or AssertionError(context["message"]))

    async def _main(self) -> None:
        world = self._world
        surroundings = Surroundings(self._clock_from, self._reclaim, lambda process: True, world.snapshots, unguarded)
        try:
            with closing(SimulatedJournal(world.store, self, world.acting)) as journal:
                async with dispatching_on(
                    journal, Path("sim"), world.configured, self._executors_for, world.all_runs_go_on, surroundings
                ) as dispatcher:
                    dispatcher.recorded.append(lambda batch: world.recorded(dispatcher, batch))
                    await self._work(dispatcher)
        except ManyhandsError as error:
            self.failure = error
        finally:
            self.dispatcher = None

    async def _work(self, dispatcher: Dispatcher) -> None:
        """What a session has beside its dispatcher, while it works."""
        world = self._world
        sinks = {place: SinkLink(sink, self, world.acting) for place, sink in world.sinks.items()}
        delivering = Delivering(
            dispatcher.book, dispatcher.submit, dispatcher.clock.now, world.routes, OpenSinks(sinks, {}), "sim"
        )
        dispatcher.recorded.append(delivering.recorded)
        probing = Probing(dispatcher, world.probes)
        self.dispatcher = dispatcher
        try:
            while dispatcher.is_alive and not self._closing.done():
                await asyncio.wait({self._closing}, timeout=LOOK_EVERY_S)
        finally:
            dispatcher.recorded.remove(delivering.recorded)
            await delivering.close()
            await probing.close()
        if not dispatcher.is_alive:
            await dispatcher.submit()  # raises what it died of

    def _executors_for(
        self, identity: str, spawned: ProcessSpawned, ended: Ended, showed: Showed, retried: Retried, asked: Asked
    ) -> Mapping[str, Executor]:
        acting = self._world.acting
        made = {name: SiteExecutor(site, self, spawned, ended, acting) for name, site in self._world.sites.items()}
        self._executors = [*made.values()]
        return made

    def _clock_from(self, not_before: float) -> Clock:
        timeline, ahead_s = self._world.timeline, self._world.wall_ahead_s
        return Clock(not_before, wall=lambda: timeline.now + ahead_s, steady=lambda: timeline.now)

    async def _reclaim(self, survivors: Iterable[tuple[ProcessHandle, str]]) -> None:
        for process, marker in survivors:
            self._world.acting("reclaim")
            if not self.is_dead and process != NO_PROCESS:  # simulated hosts share no processes
                self._world.sites[process.boot].kill(int(marker.rpartition(".")[2]))
