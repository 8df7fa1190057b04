"""A host as it really is, whichever dispatcher uses it. Work there may outlive a dispatcher, or may not.

The site is part of the world. A `SiteExecutor` is how one dispatcher reaches it.
"""

import enum
from collections.abc import Callable

from msgspec import Struct

from manyhands.core.claims import conflict
from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.host import ProcessHandle
from manyhands.core.values.task import Claims, claims_of
from manyhands.engine.sim.dispatched.process_life import ProcessLife
from manyhands.engine.sim.dispatched.timeline import Timeline
from manyhands.engine.sim.hosts.simulated_host import NEVER, Job, SimulatedHost
from manyhands.hosts.executors.executor import Ended, ProcessSpawned

STOPPED = Ending(EndingKind.CANCELLED, "stopped")


class Bond(enum.Enum):
    """What becomes of an attempt when its dispatcher dies."""

    CALL = "call"  # it dies too, like a function or a request of the dispatcher's own process
    PROCESS = "process"  # it lives, but nobody hears of it, until the next dispatcher kills it
    REMOTE = "remote"  # it lives, and the next dispatcher may adopt it


class LiveAttempt(Struct):
    site: str
    order: StartAttempt
    is_gated: bool
    claims: Claims
    executor: "SiteExecutor | None"  # of the dispatcher that hears of it


class LiveAttempts:
    """Everything that runs anywhere, and every fault that was found in it."""

    def __init__(self, is_recorded: Callable[[int], bool]) -> None:
        self.of: dict[int, LiveAttempt] = {}
        self.wrong: list[str] = []
        self._is_recorded = is_recorded
        self._ever: set[int] = set()

    def arrive(self, live: LiveAttempt) -> None:
        attempt = live.order.attempt
        if not self._is_recorded(attempt):
            self.wrong.append(f"attempt {attempt} was started before its start was on disk")
        if attempt in self._ever:
            self.wrong.append(f"attempt {attempt} was started twice")
        self._ever.add(attempt)
        self.of[attempt] = live

    def begin_work(self, live: LiveAttempt) -> None:
        for attempt, other in self.of.items():
            if other is not live and not other.is_gated and conflict(live.claims, other.claims):
                ours = f"attempt {live.order.attempt} of {live.order.task.id}"
                self.wrong.append(f"{ours} works while attempt {attempt} of {other.order.task.id} holds its claims")


class SimulatedSite:
    def __init__(
        self,
        name: str,
        model: SimulatedHost,
        bond: Bond,
        timeline: Timeline,
        attempts: LiveAttempts,
        job_for: Callable[[StartAttempt], Job],
        delay_s: Callable[[], float] = float,
        told_after_s: Callable[[], tuple[float, ...]] = lambda: (0.0,),
    ) -> None:
        """`delay_s` gives how long a message takes, and `told_after_s` when and how often an ending is reported."""
        self.name = name
        self.model = model
        self.bond = bond
        self.timeline = timeline
        self._delay_s = delay_s
        self._told_after_s = told_after_s
        self._attempts = attempts
        self._job_for = job_for
        self._unheard: dict[int, Ending] = {}  # endings of remote attempts that no dispatcher has heard of
        self._pids = 0
        self._alarm_at = NEVER

    def start(self, order: StartAttempt, executor: "SiteExecutor") -> None:
        gated = self.bond is Bond.PROCESS
        live = LiveAttempt(self.name, order, gated, claims_of(order.task), executor)
        self._attempts.arrive(live)
        if not gated:
            self._begin(live)
            return
        self._pids += 1
        handle = ProcessHandle(self._pids, self.timeline.now, self.name)
        self.timeline.plan(self.timeline.now + self._delay_s(), lambda: executor.hear_spawned(order.attempt, handle))

    def release(self, attempt: int) -> None:
        live = self._attempts.of.get(attempt)
        if live is not None and live.is_gated:
            live.is_gated = False
            self._begin(live)

    def stop(self, attempt: int) -> None:
        """A stopped attempt takes a moment to die, and may end by itself meanwhile."""
        self.timeline.plan(self.timeline.now + self._delay_s(), lambda: self._stop(attempt))

    def adopt(self, attempt: int, executor: "SiteExecutor") -> bool:
        ending = self._unheard.pop(attempt, None)
        if ending is not None:
            self.timeline.plan(self.timeline.now, lambda: executor.hear_ended(attempt, ending))
            return True
        live = self._attempts.of.get(attempt)
        if live is None or self.bond is not Bond.REMOTE:
            return False
        live.executor = executor
        return True

    def lose(self, executor: "SiteExecutor") -> None:
        """Its dispatcher is dead."""
        for attempt, live in list(self._attempts.of.items()):
            if live.executor is executor:
                live.executor = None
                if live.is_gated or self.bond is Bond.CALL:
                    self.kill(attempt)

    def stop_all(self, executor: "SiteExecutor") -> None:
        """Its dispatcher closes, and waits until nothing that it started is alive."""
        for attempt in [number for number, live in self._attempts.of.items() if live.executor is executor]:
            self.kill(attempt)

    def kill(self, attempt: int) -> bool:
        """Kill the attempt without telling anyone. Was it alive?"""
        live = self._attempts.of.pop(attempt, None)
        if live is not None and not live.is_gated:
            self.model.cancel(self.timeline.now, attempt)
            self._set_alarm()
        return live is not None

    def _begin(self, live: LiveAttempt) -> None:
        self._attempts.begin_work(live)
        order = live.order
        self.model.submit(self.timeline.now, order.attempt, self._job_for(order), order.number == 1)
        self._set_alarm()

    def _stop(self, attempt: int) -> None:
        live = self._attempts.of.get(attempt)
        if self.kill(attempt) and live is not None:
            self._report(attempt, live, STOPPED)

    def _set_alarm(self) -> None:
        at = self.model.next_event_at()
        if at < self._alarm_at:
            self._alarm_at = at
            self.timeline.plan(at, lambda: self._live_on(at))

    def _live_on(self, alarm_at: float) -> None:
        if alarm_at != self._alarm_at:
            return  # an earlier timer was set since, and it has handled everything
        self._alarm_at = NEVER
        for finished in self.model.advance(self.timeline.now):
            live = self._attempts.of.pop(finished.attempt)
            self._report(finished.attempt, live, finished.ending)
        self._set_alarm()

    def _report(self, attempt: int, live: LiveAttempt, ending: Ending) -> None:
        executor = live.executor
        if executor is not None:
            for after_s in self._told_after_s():
                self.timeline.plan(self.timeline.now + after_s, lambda: self._tell(executor, attempt, ending))
        elif self.bond is Bond.REMOTE:
            self._unheard[attempt] = ending

    def _tell(self, executor: "SiteExecutor", attempt: int, ending: Ending) -> None:
        if executor.is_cut_off and self.bond is Bond.REMOTE:
            self._unheard[attempt] = ending
        executor.hear_ended(attempt, ending)


class SiteExecutor:
    """Keeps the executor contract for one dispatcher.

    Once the dispatcher is dead, it neither does nor hears anything.
    """

    def __init__(
        self,
        site: SimulatedSite,
        life: ProcessLife,
        spawned: ProcessSpawned,
        ended: Ended,
        acting: Callable[[str], None],
    ) -> None:
        """`acting` is called before each action. The dispatcher may die at any of them."""
        self._site = site
        self._life = life
        self._spawned = spawned
        self._ended = ended
        self._acting = acting

    @property
    def is_cut_off(self) -> bool:
        return self._life.is_dead

    def start(self, order: StartAttempt, directory: str) -> None:
        self._acting("start")
        if not self._life.is_dead:
            self._site.start(order, self)

    def release(self, attempt: int) -> None:
        self._acting("release")
        if not self._life.is_dead:
            self._site.release(attempt)

    def stop(self, attempt: int) -> None:
        self._acting("stop")
        if not self._life.is_dead:
            self._site.stop(attempt)

    def lose_dispatcher(self) -> None:
        self._site.lose(self)

    def adopt(self, attempt: int, directory: str) -> bool:
        return not self._life.is_dead and self._site.adopt(attempt, self)

    async def close(self) -> None:
        if not self._life.is_dead:
            self._site.stop_all(self)

    def hear_spawned(self, attempt: int, handle: ProcessHandle) -> None:
        if not self._life.is_dead:
            self._spawned(attempt, handle)

    def hear_ended(self, attempt: int, ending: Ending) -> None:
        if not self._life.is_dead:
            self._ended(attempt, ending)
