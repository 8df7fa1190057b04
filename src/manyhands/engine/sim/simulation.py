"""Runs the real scheduler in virtual time on simulated hosts. Nothing here sleeps or reads a clock.

It is for load studies and leaves out the dispatcher. `engine.sim.dispatched` simulates that too.
"""

import heapq
from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct

from manyhands.core.commands import AnyCommand, ReleaseAttempt, RunEnded, StartAttempt, StopAttempt, WakeAt
from manyhands.core.events import AnyEvent, AttemptEnded, AttemptShowed, HostRead, Input, Woke
from manyhands.core.learning import LAUNCH_LOOK_S, is_adaptive, look_every_s
from manyhands.core.scheduler import Scheduler, TurnResult
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.engine.sim.hosts.simulated_host import NEVER, Job, SimulatedHost

#: What a stopped attempt reports. The scheduler knows why it was stopped.
STOPPED = Ending(EndingKind.CANCELLED, "stopped")


class Leader(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How long a turn of the dispatcher takes, with all its work.

    Attempts that end meanwhile wait for the next turn.
    """

    turn_s: float = 0.0
    task_s: float = 0.0  # more for each task it starts

    def takes_s(self, starts: int) -> float:
        return self.turn_s + self.task_s * starts


#: A leader that takes no time, to study only the order of events.
INSTANT = Leader()


class Calendar:
    """Finds the host where something happens next, without asking each host every time."""

    def __init__(self, hosts: Iterable[SimulatedHost]) -> None:
        self._hosts = list(hosts)
        self._noted = [NEVER] * len(self._hosts)
        self._heap: list[tuple[float, int]] = []
        for place in range(len(self._hosts)):
            self.note(place)

    def note(self, place: int) -> None:
        """Something was done to that host, so its next event may have changed."""
        at = self._hosts[place].next_event_at()
        if at != self._noted[place]:
            self._noted[place] = at
            if at < NEVER:
                heapq.heappush(self._heap, (at, place))

    def next_at(self) -> float:
        heap, noted = self._heap, self._noted
        while heap and noted[heap[0][1]] != heap[0][0]:
            heapq.heappop(heap)
        return heap[0][0] if heap else NEVER

    def advance(self, now: float) -> list[AttemptEnded]:
        """Advance all hosts to that time. Returns what ended on the way, in order of time."""
        due: dict[int, None] = {}
        while self.next_at() <= now:
            place = heapq.heappop(self._heap)[1]
            self._noted[place] = NEVER
            due[place] = None
        ended: list[AttemptEnded] = []
        for place in sorted(due):
            ended += [AttemptEnded(each.at, each.attempt, each.ending) for each in self._hosts[place].advance(now)]
            self.note(place)
        ended.sort(key=_at)
        return ended


def _at(event: AttemptEnded) -> float:
    return event.at


class Simulation:
    """Feeds a scheduler with what simulated hosts report and with what arrives from outside."""

    def __init__(
        self,
        scheduler: Scheduler,
        hosts: Mapping[str, SimulatedHost],
        job_for: Callable[[StartAttempt], Job],
        recorded: Callable[[AnyEvent], None] | None = None,
        leader: Leader = INSTANT,
        supply: Callable[[], Iterable[Input]] = tuple,
    ) -> None:
        """`supply` is called before each turn and returns what else has arrived by then."""
        self.scheduler = scheduler
        self.hosts = hosts
        self.now = 0.0
        self.settled: list[str] = []  # runs that have come to rest, in order
        self.inbox: list[AttemptEnded | AttemptShowed] = []  # what the next turn begins with
        self._job_for = job_for
        self._recorded = recorded
        self._leader = leader
        self._supply = supply
        self._places = {name: place for place, name in enumerate(hosts)}
        self._calendar = Calendar(hosts.values())
        self._streaming = [host for host in hosts.values() if host.shows_output]
        self._arrivals: list[tuple[float, int, Input]] = []
        self._arrived = 0
        self._wake_at = NEVER
        self._look_at = NEVER
        self._looked_at: dict[str, float] = {}
        self._host_of: dict[int, str] = {}

    def expect(self, event: Input) -> None:
        """This will happen at its own `at`."""
        self._arrived += 1
        heapq.heappush(self._arrivals, (event.at, self._arrived, event))

    def run(self, until: float = NEVER) -> float:
        """Run until nothing more can happen. Returns the time of that."""
        while (at := self._next_at()) <= until and at < NEVER:
            self.now = max(self.now, at)
            self._step()
        return self.now

    def _next_at(self) -> float:
        if self.inbox:
            return self.now
        arrival = self._arrivals[0][0] if self._arrivals else NEVER
        return min(arrival, self._wake_at, self._look_at, self._calendar.next_at())

    def _step(self) -> None:
        happened: list[Input] = []
        while self._arrivals and self._arrivals[0][0] <= self.now:
            happened.append(heapq.heappop(self._arrivals)[2])
        self._live_on()
        happened += self._supply()
        happened += self.inbox
        self.inbox = []
        if self._wake_at <= self.now:
            self._wake_at = NEVER
            happened.append(Woke(self.now))
        happened += self._looks()
        step = self.scheduler.handle(happened)
        self._record([event for event in happened if not isinstance(event, Woke)])
        self._record(step.decisions)
        self._pass_turn(step)
        for command in step.commands:
            self._carry_out(command)

    def _live_on(self) -> None:
        """Hosts continue until now. What ends there waits for the next turn."""
        ended = self._calendar.advance(self.now)
        shown = [
            AttemptShowed(self.now, attempt) for host in self._streaming for attempt in host.first_outputs(self.now)
        ]
        for event in ended:
            self._host_of.pop(event.attempt, None)
        self.inbox += shown
        self.inbox += ended

    def _pass_turn(self, step: TurnResult) -> None:
        """Commands are carried out once they are on disk. The hosts do not wait for that."""
        starts = sum(1 for command in step.commands if isinstance(command, StartAttempt))
        takes_s = self._leader.takes_s(starts)
        if takes_s:
            self.now += takes_s
            self._live_on()

    def _looks(self) -> list[Input]:
        """What the probes see of the hosts where it matters."""
        if self._look_at > self.now:
            return []
        learning = {
            name: host for name, host in self.scheduler.book.hosts.items() if host.running and is_adaptive(host.host)
        }
        due = [
            name
            for name, host in learning.items()
            if self.now - self._looked_at.get(name, -NEVER) >= look_every_s(host) - 0.5 * LAUNCH_LOOK_S
        ]
        for name in due:
            self._looked_at[name] = self.now
        self._look_at = self.now + min((look_every_s(host) for host in learning.values()), default=NEVER)
        return [HostRead(self.now, name, self.hosts[name].reading(self.now)) for name in due]

    def _record(self, events: Iterable[AnyEvent]) -> None:
        if self._recorded is not None:
            for event in events:
                self._recorded(event)

    def _carry_out(self, command: AnyCommand) -> None:
        match command:
            case StartAttempt():
                self._host_of[command.attempt] = command.host
                self._look_at = min(self._look_at, self.now + LAUNCH_LOOK_S)
                host = self.hosts[command.host]
                host.submit(self.now, command.attempt, self._job_for(command), command.number == 1)
                self._calendar.note(self._places[command.host])
            case StopAttempt(attempt):
                stopped_on = self._host_of.pop(attempt, None)
                if stopped_on is not None:  # otherwise it ended in the same instant
                    self.hosts[stopped_on].cancel(self.now, attempt)
                    self._calendar.note(self._places[stopped_on])
                    self.expect(AttemptEnded(self.now, attempt, STOPPED))
            case WakeAt(at):
                self._wake_at = at
            case RunEnded(run):
                self.settled.append(run)
            case ReleaseAttempt():
                pass
