"""The very core that runs live, under virtual time on simulated hosts. Nothing here sleeps or reads a clock."""

import heapq
from collections.abc import Callable, Iterable, Mapping

from manyhands.core.commands import AnyCommand, ReleaseAttempt, RunEnded, StartAttempt, StopAttempt, WakeAt
from manyhands.core.events import AnyEvent, AttemptEnded, HostRead, Input, Woke
from manyhands.core.learning import is_adaptive
from manyhands.core.model import Ending, EndingKind
from manyhands.core.scheduler import Scheduler
from manyhands.sim.hosts.interface import NEVER, Job, SimulatedHost

#: How often a host whose width is the clutch's is looked at while anything is in flight there.
LOOK_EVERY_S = 1.0
#: What a stopped attempt reports; the scheduler knows why it was stopped.
STOPPED = Ending(EndingKind.CANCELLED, "stopped")


class Simulation:
    """Feeds a scheduler with what simulated hosts report and what is to arrive from outside."""

    def __init__(
        self,
        scheduler: Scheduler,
        hosts: Mapping[str, SimulatedHost],
        job_for: Callable[[StartAttempt], Job],
        recorded: Callable[[AnyEvent], None] | None = None,
    ) -> None:
        self.scheduler = scheduler
        self.hosts = hosts
        self.now = 0.0
        self.settled: list[str] = []  # runs that have come to rest, in order
        self._job_for = job_for
        self._recorded = recorded
        self._arrivals: list[tuple[float, int, Input]] = []
        self._arrived = 0
        self._wake_at = NEVER
        self._look_at = NEVER
        self._host_of: dict[int, SimulatedHost] = {}

    def expect(self, event: Input) -> None:
        """This will happen at its own `at`."""
        self._arrived += 1
        heapq.heappush(self._arrivals, (event.at, self._arrived, event))

    def run(self, until: float = NEVER) -> float:
        """Until nothing more can happen; the time it is then."""
        while (at := self._next_at()) <= until and at < NEVER:
            self.now = max(self.now, at)
            self._step()
        return self.now

    def _next_at(self) -> float:
        arrival = self._arrivals[0][0] if self._arrivals else NEVER
        return min([arrival, self._wake_at, self._look_at, *(host.next_event_at() for host in self.hosts.values())])

    def _step(self) -> None:
        happened: list[Input] = []
        while self._arrivals and self._arrivals[0][0] <= self.now:
            happened.append(heapq.heappop(self._arrivals)[2])
        for host in self.hosts.values():
            if host.next_event_at() <= self.now:
                for finished in host.advance(self.now):
                    self._host_of.pop(finished.attempt, None)
                    happened.append(AttemptEnded(self.now, finished.attempt, finished.ending))
        if self._wake_at <= self.now:
            self._wake_at = NEVER
            happened.append(Woke(self.now))
        happened += self._looks()
        step = self.scheduler.handle(happened)
        self._record([event for event in happened if not isinstance(event, Woke)])
        self._record(step.decisions)
        for command in step.commands:
            self._carry_out(command)

    def _looks(self) -> list[Input]:
        """What the probes see, of the hosts where it matters."""
        if self._look_at > self.now:
            return []
        learning = [name for name, host in self.scheduler.book.hosts.items() if host.running and is_adaptive(host.host)]
        self._look_at = self.now + LOOK_EVERY_S if learning else NEVER
        return [HostRead(self.now, name, self.hosts[name].reading(self.now)) for name in learning]

    def _record(self, events: Iterable[AnyEvent]) -> None:
        if self._recorded is not None:
            for event in events:
                self._recorded(event)

    def _carry_out(self, command: AnyCommand) -> None:
        match command:
            case StartAttempt():
                host = self.hosts[command.host]
                self._host_of[command.attempt] = host
                self._look_at = min(self._look_at, self.now + LOOK_EVERY_S)
                host.submit(self.now, command.attempt, self._job_for(command), command.number == 1)
            case StopAttempt(attempt):
                stopped_on = self._host_of.pop(attempt, None)
                if stopped_on is not None:  # else it ended in the same instant
                    stopped_on.cancel(self.now, attempt)
                    self.expect(AttemptEnded(self.now, attempt, STOPPED))
            case WakeAt(at):
                self._wake_at = at
            case RunEnded(run):
                self.settled.append(run)
            case ReleaseAttempt():
                pass
