"""A seeded world around the real dispatcher, which dies, restarts and recovers while hosts, sinks and disks fail.

One profile of faults and one seed are one story. Run this file with both to tell that story again:

    .venv/bin/python tests/engine/sim/dispatcher_story.py crashes 17
"""

import asyncio
import hashlib
import logging
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from random import Random

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from msgspec.structs import replace

from engine.sim.damaged_disk import DamagedDisk
from engine.sim.drawn_world import FAMILY, ROUTES, draw_hosts, draw_task, job_source
from engine.sim.fault_profiles import PROFILES
from engine.sim.story_checks import Promises, StoreCheck, key_of, left_over, unfinished_business
from manyhands.core import events as ev
from manyhands.core.events import AnyEvent
from manyhands.core.invariants import violations
from manyhands.core.learning import is_adaptive
from manyhands.core.values.provenance import CausedBy, Origin, Purpose
from manyhands.core.values.widths import Reading
from manyhands.engine.delivery.sinks.sink import SinkError
from manyhands.engine.dispatcher import Dispatcher, SnapshotPace
from manyhands.engine.sim.dispatched.dispatcher_life import DispatcherLife, SimulatedWorld
from manyhands.engine.sim.dispatched.simulated_sink import Reception, SimulatedSink
from manyhands.engine.sim.dispatched.simulated_site import LiveAttempts, SimulatedSite
from manyhands.engine.sim.dispatched.timeline import Timeline
from manyhands.engine.sim.hosts.simulated_host import SimulatedHost
from manyhands.engine.store.memory_store import MemoryStore
from manyhands.errors import ManyhandsError, StoreBroken
from manyhands.hosts.probes.guarded_probe import GuardedProbe

RUNS = ("r", "s")
#: Far longer than everything takes that is left then.
PATIENCE_S = 5_000.0
WALL_AHEAD_S = 1_000_000.0
#: Of an ending: by then its host may have been given up, and its dispatcher may be another one.
LATE_S = 2.0


class MoodyProbe(GuardedProbe):
    def __init__(self, model: SimulatedHost, mood: Callable[[], str]) -> None:
        super().__init__()
        self._model = model
        self._mood = mood

    async def ask(self, at: float) -> Reading:
        match self._mood():
            case "hangs":
                await asyncio.sleep(60)
            case "fails":
                raise RuntimeError("no such metric")
            case "lies":
                return Reading(at=at, utilisation=7.0)
        reading = self._model.reading(at - WALL_AHEAD_S)
        if reading is None:
            raise RuntimeError("it shows nothing")
        return replace(reading, at=at)


class DispatcherStory:
    def __init__(self, profile: str, seed: int, trouble_s: float | None = None) -> None:
        """`trouble_s` ends the trouble sooner than the profile does: a shorter story with the same beginning."""
        self.profile = PROFILES[profile]
        self.seed = seed
        self._trouble_s = self.profile.for_s if trouble_s is None else trouble_s
        self.seen: Counter[str] = Counter()  # what happened, for whoever wants to know whether anything did
        self.timeline = Timeline()
        self.store = MemoryStore()
        self.promises = Promises()
        self.life: DispatcherLife | None = None
        self.is_calm = False
        self.is_told = False
        self._is_refused = False  # is the journal refused in this life?
        self._below = [*zip(self.profile.troubles, accumulate(self.profile.troubles.values()), strict=True)]
        self._draws = Random(f"{seed} draws")
        self._faults = Random(f"{seed} faults")
        self._times = Random(f"{seed} times")
        self._runs = RUNS[: self._draws.choice((1, 2))]
        self._tasks = dict.fromkeys(self._runs, 0)
        self._wanted: list[ev.Input] = []  # what a client submits until it is acknowledged
        self._deaths: list[tuple[str, int]] = []  # the dispatcher dies at the nth such deed from now on
        self._disk_is_full = self._answer_is_lost = False
        self._disk: DamagedDisk | None = None  # made when something happens to it
        self._disk_fault: Callable[[], None] | None = None  # what happens to the files before they are opened again
        self._sink_mood = self._probe_mood = "fine"
        self._wall_ahead_s = WALL_AHEAD_S
        self._recorded: set[int] = set()  # attempts whose start is on disk
        self._seen_last = 0
        self.attempts = LiveAttempts(self._is_recorded)
        self.hosts = draw_hosts(self._draws, self.profile)
        job_for = job_source(seed, self.hosts)
        self.sites = {
            name: SimulatedSite(name, model, bond, self.timeline, self.attempts, job_for, self._delay_s, self._told)
            for name, (_, model, bond) in self.hosts.items()
        }
        self.sinks = {(app, app): SimulatedSink(self._receive) for app in ROUTES}
        self._snapshots = SnapshotPace(self._draws.choice((20, 200, 10**6)), self._draws.choice((1, 10**6)))

    # The story

    def tell(self) -> None:
        for run in self._runs:
            self._wanted.append(
                ev.RunOpened(0.0, run, self._draws.randrange(99), parents={"epic": 2}, purpose=Purpose.PLAN)
            )
            for _ in range(self._draws.randint(1, 3)):
                self._wanted.append(self._submission(run))
        self._plan_trouble()
        self.timeline.plan(self._trouble_s, self._calm_down)
        self.timeline.plan(self._trouble_s + PATIENCE_S, self._lose_patience)
        checking = StoreCheck(self.store, self.promises, self.sinks)
        while not self.is_told:
            was = len(self.store.rows)
            self._live()
            assert not self._is_refused or len(self.store.rows) == was, "it began on a journal that is damaged"
            checking.check()
            assert self.attempts.wrong == [], self.attempts.wrong
            self._stay_away()
        StoreCheck(self.store, self.promises, self.sinks).check()  # as a whole, once more
        assert self.attempts.of == {}, f"still alive at the end: {[*self.attempts.of]}"
        assert self.store.waiting == {}, f"requests {[*self.store.waiting]} are left unanswered"

    def close(self) -> None:
        if self._disk is not None:
            self._disk.close()

    def digest(self) -> str:
        told = hashlib.sha256()
        for seq, body in self.store.rows:
            told.update(f"{seq}:".encode() + body)
        for sink in self.sinks.values():
            told.update(repr(sink.taken).encode())
        return told.hexdigest()

    def _live(self) -> None:
        self._is_refused = False
        hosts = tuple(host for host, _, _ in self.hosts.values())
        world = SimulatedWorld(
            timeline=self.timeline,
            store=self.store,
            sites=self.sites,
            configured=ev.HostsConfigured(
                0.0, hosts, families=(FAMILY,), routes=tuple(route.core_route(app) for app, route in ROUTES.items())
            ),
            probes={
                name: MoodyProbe(model, lambda: self._probe_mood)
                for name, (host, model, _) in self.hosts.items()
                if is_adaptive(host) and self.profile.has_probes
            },
            routes=ROUTES,
            sinks=self.sinks,
            wall_ahead_s=self._wall_ahead_s,
            thread_times=self._thread_times,
            snapshots=self._snapshots,
            all_runs_go_on=self.is_calm or self._faults.random() < 0.7,
            acting=self._acting,
            recorded=self._check_batch,
        )
        self.life = DispatcherLife(world)
        self.timeline.plan(self.timeline.now + self._times.uniform(0, 5), self._act_as_clients)
        self.life.run()
        self.seen["lives"] += 1
        self.seen["failures"] += self.life.failure is not None
        self.life = None

    def _stay_away(self) -> None:
        """Nobody dispatches for a while, but the world continues."""
        until = self.timeline.now + self._times.choice((0.0, 0.1, 3.0, 30.0))
        while not self.is_told and self.timeline.now < until:
            self.timeline.pass_time(until)

    def _check_batch(self, dispatcher: Dispatcher, batch: Sequence[AnyEvent]) -> None:
        wrong = violations(dispatcher.book)
        assert not wrong, f"after {batch}: {wrong}"
        for event in batch:
            self.seen[type(event).__name__] += 1
            if isinstance(event, ev.AttemptEnded):
                self.seen[f"ended {event.ending.kind.value}"] += 1

    def _is_recorded(self, attempt: int) -> bool:
        for number, event in self.store.open_reader().read(self._seen_last):
            self._seen_last = number
            if isinstance(event, ev.AttemptStarted):
                self._recorded.add(event.attempt)
        return attempt in self._recorded

    # What may go wrong

    def _acting(self, deed: str) -> None:
        assert self.life is not None
        if deed == "open" and self._disk_fault is not None:
            self._open_after(self._disk_fault)
        if deed == "append" and self._disk_is_full and not self.life.is_dead:
            self._disk_is_full = False
            self.seen["disk full"] += 1
            raise StoreBroken("the disk is full")
        if deed == "appended" and self._answer_is_lost and not self.life.is_dead:
            self._answer_is_lost = False
            self.seen["lost answer"] += 1
            raise StoreBroken("the disk did not say whether it has written")
        for place, (fatal, left) in enumerate(self._deaths):
            if fatal == deed:
                self._deaths[place] = (fatal, left - 1)
                if left == 0:
                    del self._deaths[place]
                    self.seen[f"death at {deed}"] += not self.life.is_dead
                    self.life.crash()
                    return

    def _open_after(self, fault: Callable[[], None]) -> None:
        """A dispatcher that finds damage refuses to work. Then the store is put back as it was."""
        self._disk_fault = None
        try:
            fault()
        except StoreBroken:
            self._is_refused = True
            self.seen["damage named"] += 1
            raise
        self.seen["damage harmless"] += 1

    def _plan_trouble(self) -> None:
        at = self.timeline.now + self._faults.expovariate(1 / self.profile.every_s)
        if at < self._trouble_s:
            self.timeline.plan(at, self._make_trouble)

    def _make_trouble(self) -> None:
        faults = self._faults
        draw = faults.random()
        match next((name for name, below in self._below if draw < below), "wish"):
            case "crash" if self.life is not None:
                self.seen["crash"] += 1
                self.life.crash()
            case "damage" | "power cut" as fault if self.life is not None:
                self._disk = self._disk or DamagedDisk(self.store, Random(f"{self.seed} disk"))
                self._disk_fault = self._disk.damage if fault == "damage" else self._disk.cut_power
                self.life.crash()
            case "close" if self.life is not None:
                self.life.close()
            case "death at a deed":
                self._deaths.append((faults.choice(self.profile.deeds), faults.randrange(4)))
            case "disk full":
                self._disk_is_full = True
            case "lost answer":
                self._answer_is_lost = True
            case "clock jump":
                self._wall_ahead_s = WALL_AHEAD_S + faults.choice(self.profile.jumps_s)
                self.seen["clock jump"] += 1
            case "sink":
                self._sink_mood = faults.choice(("fine", "down", "moody", "refuses"))
            case "probe":
                self._probe_mood = faults.choice(("fine", "hangs", "fails", "lies"))
            case "submission":
                self._wanted.append(self._submission(faults.choice(self._runs)))
                self._act_as_clients()
            case _:
                self._wish(self._some_wish())
        self._plan_trouble()

    def _thread_times(self) -> tuple[float, float]:
        if self.is_calm:
            return 0.001, 0.0
        return self._times.choice(self.profile.write_s), self._times.choice((0.0, 0.0, 0.001, 0.1))

    def _delay_s(self) -> float:
        return self._times.choice((0.0, 0.0, 0.01, 0.3))

    def _told(self) -> tuple[float, ...]:
        """When an ending is told: mostly once, soon."""
        if self.is_calm:
            return (0.0,)
        told = self._times.choice(self.profile.told)
        self.seen["told twice"] += len(told) > 1
        self.seen["told late"] += max(told) >= LATE_S
        return told

    def _receive(self) -> Reception:
        match self._sink_mood:
            case "down":
                return Reception(0.1, False, SinkError("connection refused"))
            case "refuses":
                return Reception(0.0, False, SinkError("400", permanent=self._times.random() < 0.3))
            case "moody":
                taken, heard = self._times.random() < 0.7, self._times.random() < 0.5
                error = None if taken and heard else SinkError("it hung up", retry_after_s=self._times.choice((0, 2)))
                return Reception(self._times.choice((0.0, 1.0, 20.0)), taken, error)
            case _:
                return Reception(0.01)

    # What people and programs ask for

    def _submission(self, run: str) -> ev.TasksSubmitted:
        first = self._tasks[run]
        self._tasks[run] += self._draws.randint(1, 12)
        tasks = tuple(draw_task(self._draws, n) for n in range(first, self._tasks[run]))
        return ev.TasksSubmitted(0.0, run, tasks, Origin.PLAN)

    def _some_wish(self) -> ev.Input:
        faults, run = self._faults, self._faults.choice(self._runs)
        task, host = f"t{faults.randrange(self._tasks[run])}", faults.choice([*self.hosts])
        wishes: tuple[Callable[[], ev.Input], ...] = (
            lambda: ev.CancelAsked(0.0, run, task, "changed their mind", CausedBy.PERSON),
            lambda: ev.RetryAsked(0.0, run, task),
            lambda: ev.DeferAsked(0.0, run, task),
            lambda: ev.ResumeAsked(0.0, run, task),
            lambda: ev.HostPaused(0.0, host, "a break"),
            lambda: ev.HostResumed(0.0, host),
            lambda: ev.WidthSet(0.0, host, faults.choice((None, 0, 1, 3))),
            lambda: faults.choice((ev.RunDrained, ev.RunStopped))(0.0, run),
            lambda: ev.RunResumed(0.0, run, faults.choice((None, 2)), faults.random() < 0.1),
            lambda: ev.RunResumed(0.0, run),
            lambda: ev.ResendAsked(0.0),
            lambda: ev.MemoryForgotten(0.0, host),
        )
        return faults.choice(wishes)()

    def _wish(self, event: ev.Input) -> None:
        """From another process, as a durable request; or from a client of the dispatcher itself."""
        if self.life is None or self._faults.random() < 0.5:
            self.promises.asked[key_of(event)] += 1
            self.store.open_requests().ask(event)
        else:
            self.life.do(self._submit(event))

    def _act_as_clients(self) -> None:
        """Whoever was not answered asks again: submitting twice is submitting once."""
        if self.life is not None and not self.life.is_dead:
            for event in [*self._wanted]:
                self.life.do(self._submit(event))

    async def _submit(self, event: ev.Input) -> None:
        life = self.life
        if life is None or life.dispatcher is None or life.is_dead:
            return
        self.promises.submitted[key_of(event)] += 1
        try:
            await life.dispatcher.submit(replace(event, at=life.dispatcher.clock.now()))
        except (ManyhandsError, asyncio.CancelledError):
            return
        if not life.is_dead:
            self.promises.acknowledged[key_of(event)] += 1
            if event in self._wanted:
                self._wanted.remove(event)

    # How it ends

    def _calm_down(self) -> None:
        self.is_calm = True
        self._deaths = []
        self._disk_is_full = self._answer_is_lost = False
        self._disk_fault = None
        self._sink_mood = self._probe_mood = "fine"
        self._look_whether_done()

    def _look_whether_done(self) -> None:
        dispatcher = self.life.dispatcher if self.life is not None else None
        if self.life is not None and dispatcher is not None:
            lifting = unfinished_business(dispatcher.book)
            if not lifting and not self._wanted and not self.attempts.of:
                self.is_told = True
                self.life.close()
                return
            for event in lifting:
                self.life.do(self._submit(event))
            self._act_as_clients()
        self.timeline.plan(self.timeline.now + 60.0, self._look_whether_done)

    def _lose_patience(self) -> None:
        if self.is_told:
            return
        assert self.life is not None
        assert self.life.dispatcher is not None
        book = self.life.dispatcher.book
        raise AssertionError(f"it never comes to its end: {left_over(book)}; {[*self.attempts.of]} still work")


def tell(profile: str, seed: int, trouble_s: float | None = None) -> DispatcherStory:
    with _hushed("asyncio", "manyhands"):
        story = DispatcherStory(profile, seed, trouble_s)
        try:
            story.tell()
        finally:
            story.close()
        return story


@contextmanager
def _hushed(*names: str) -> Iterator[None]:
    """Stories are full of warnings. Later tests in this process look for theirs, so the levels come back."""
    levels = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


def shortest_that_fails(profile: str, seed: int) -> float | None:
    """The least time of trouble, to about a second, with which the story still fails. None if it does not fail."""

    def fails(trouble_s: float) -> bool:
        try:
            tell(profile, seed, trouble_s)
        except Exception:
            return True
        return False

    enough, too_short = PROFILES[profile].for_s, 0.0
    if not fails(enough):
        return None
    while enough - too_short > 1.0:
        middle = (enough + too_short) / 2
        if fails(middle):
            enough = middle
        else:
            too_short = middle
    return enough


if __name__ == "__main__":
    for number in map(int, sys.argv[2:]):
        least_s = shortest_that_fails(sys.argv[1], number)
        if least_s is not None:
            print(f"seed {number} fails with {least_s:.1f} s of trouble:")
        told = tell(sys.argv[1], number, least_s)
        print(f"seed {number}: {told.digest()} after {told.timeline.now:.1f} s, {dict(sorted(told.seen.items()))}")
