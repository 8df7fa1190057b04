"""Any host, with times at which it refuses whatever it has finished: too many requests, or a budget that is used up."""

from random import Random

from msgspec.structs import replace

from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.widths import Reading
from manyhands.engine.sim.hosts.simulated_host import Finished, Job, SimulatedHost

TOO_MANY = Ending(EndingKind.OVERLOADED, "429 too many requests", rate_limited=True)


class StormHost:
    def __init__(self, host: SimulatedHost, storms: tuple[tuple[float, float, bool], ...]) -> None:
        self._host = host
        self._storms = storms  # (from, until, is a budget used up until then?)
        self._refusals = 0

    @property
    def overloads(self) -> int:
        return self._host.overloads + self._refusals

    @property
    def kills(self) -> int:
        return self._host.kills

    @property
    def shows_output(self) -> bool:
        return self._host.shows_output

    def first_outputs(self, now: float) -> list[int]:
        return self._host.first_outputs(now)

    def draw(self, random: Random, kind: str = "") -> Job:
        return self._host.draw(random, kind)

    def submit(self, now: float, attempt: int, job: Job, first: bool = True) -> None:
        self._host.submit(now, attempt, job, first)

    def cancel(self, now: float, attempt: int) -> None:
        self._host.cancel(now, attempt)

    def next_event_at(self) -> float:
        return self._host.next_event_at()

    def advance(self, now: float) -> list[Finished]:
        return [self._in_the_storm(finished) for finished in self._host.advance(now)]

    def reading(self, now: float) -> Reading | None:
        return self._host.reading(now)

    def _in_the_storm(self, finished: Finished) -> Finished:
        for begins, ends, is_budget in self._storms:
            if begins <= finished.at < ends:
                self._refusals += 1
                refused = replace(TOO_MANY, quota=True, retry_after_s=ends - finished.at) if is_budget else TOO_MANY
                return replace(finished, ending=refused)
        return finished
