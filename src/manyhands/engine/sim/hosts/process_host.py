"""Agents as local processes: they share cores, their memory grows to a peak, and the kernel kills.

An attempt needs a core for part of its life. If more cores are needed than there are, all attempts slow down. Memory
grows to the job's peak in the first half of its life. Above the limit the largest attempt is killed and its work is
lost. From 92 % on, the host swaps.
"""

from random import Random

from msgspec import Struct

from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.widths import Reading
from manyhands.engine.sim.hosts.simulated_host import NEVER, Finished, Job, Share, log_normal, pick

GB = 1e9
START_BYTES = 0.15 * GB
KILL_STALL_S = 4.0
SWAP_FROM = 0.92


class ProcessShare(Share, frozen=True):
    seconds: float  # means
    memory_gb: float
    duty: float


class Processes(Struct, frozen=True):
    mix: tuple[ProcessShare, ...]
    cores: int = 4
    memory_gb: float = 15.0
    seconds_sigma: float = 0.5
    memory_sigma: float = 0.45
    shows_metrics: bool = True


class _Process(Struct):
    attempt: int
    job: Job
    started_at: float  # on the host's own clock, like the next field
    ends_at: float


class ProcessHost:
    def __init__(self, parameters: Processes) -> None:
        self.parameters = parameters
        self.overloads = 0
        self.kills = 0
        self.shows_output = False
        self._now = 0.0
        self._lived = 0.0  # seconds an undisturbed process would have lived: slower than time under load
        self._running: dict[int, _Process] = {}
        self._duty = 0.0
        self._peaks = 0.0
        self._stall_s = 0.0
        self._swapping = False
        self._check_at = 1.0  # memory is looked at once a second
        self._next_end_at = NEVER
        self._memory = parameters.memory_gb * GB

    def first_outputs(self, now: float) -> list[int]:
        return []

    def draw(self, random: Random, kind: str = "") -> Job:
        parameters = self.parameters
        share = pick(random, parameters.mix, kind)
        seconds = max(5.0, log_normal(random, share.seconds, parameters.seconds_sigma))
        peak_gb = max(0.15, log_normal(random, share.memory_gb, parameters.memory_sigma))
        peak = min(peak_gb, 0.8 * parameters.memory_gb) * GB
        return Job(share.kind, work=seconds, seconds=seconds, memory_bytes=peak, duty=share.duty)

    def submit(self, now: float, attempt: int, job: Job, first: bool = True) -> None:
        self._live_until(now)
        if self._check_at < now:  # no check was needed for a while
            self._check_at = float(int(now) + 1)
        self._running[attempt] = _Process(attempt, job, self._lived, self._lived + job.seconds)
        self._duty += job.duty
        self._peaks += job.memory_bytes
        self._plan()

    def cancel(self, now: float, attempt: int) -> None:
        self._live_until(now)
        process = self._running.get(attempt)
        if process is not None:
            self._remove(process)
            self._plan()

    def next_event_at(self) -> float:
        # If all attempts at their peak stay below the swapping mark, nothing can go wrong, so no check is needed.
        if self._peaks <= SWAP_FROM * self._memory and not self._swapping:
            return self._next_end_at
        return min(self._next_end_at, self._check_at)

    def advance(self, now: float) -> list[Finished]:
        finished: list[Finished] = []
        while (at := self.next_event_at()) <= now:
            if at < self._next_end_at:
                finished += self._check_memory(at)
                continue
            self._live_until(at)
            for process in [each for each in self._running.values() if each.ends_at <= self._lived + 1e-6]:
                self._remove(process)
                done = Ending(EndingKind.DONE, memory_bytes=int(process.job.memory_bytes))
                finished.append(Finished(at, process.attempt, done))
            self._plan()
        self._live_until(now)
        return finished

    def reading(self, now: float) -> Reading | None:
        if not self.parameters.shows_metrics:
            return None
        self._live_until(now)
        holds = {process.attempt: int(self._holds(process)) for process in self._running.values()}
        used = sum(holds.values())
        return Reading(
            at=now,
            source="local",
            memory_total_bytes=int(self._memory),
            memory_used_bytes=used,
            attempt_bytes=holds,
            utilisation=min(1.0, self._duty / self.parameters.cores),
            cores=self.parameters.cores,
            busy_cores=min(float(self.parameters.cores), self._duty),
        )

    def _holds(self, process: _Process) -> float:
        grown = min(1.0, (self._lived - process.started_at) / (0.5 * process.job.seconds))
        return START_BYTES + (process.job.memory_bytes - START_BYTES) * grown

    def _speed(self) -> float:
        """Seconds of undisturbed life per second."""
        load = self._duty / self.parameters.cores
        if load <= 1:
            speed = 1.0 - 0.10 * load**3  # processes disturb each other a little even where cores are free
        else:
            duty = self._duty / len(self._running)
            speed = 0.9 / (duty * load * (1 + 0.03 * (load - 1)) + 1 - duty)
        return 0.5 * speed if self._swapping else speed

    def _live_until(self, now: float) -> None:
        passed = now - self._now
        self._now = now
        if passed <= 0:
            return
        if self._stall_s > 0:
            stalled = min(self._stall_s, passed)
            self._stall_s -= stalled
            passed -= stalled
        if passed > 0 and self._running:
            self._lived += passed * self._speed()

    def _check_memory(self, at: float) -> list[Finished]:
        self._live_until(at)
        self._check_at = at + 1
        holds = {process.attempt: self._holds(process) for process in self._running.values()}
        used = sum(holds.values())
        killed: list[Finished] = []
        while used > self._memory and holds:
            largest = max(holds, key=lambda attempt: holds[attempt])
            peak = holds.pop(largest)
            used -= peak
            self._remove(self._running[largest])
            self.kills += 1
            self.overloads += 1
            self._stall_s += KILL_STALL_S
            ending = Ending(EndingKind.OVERLOADED, detail="killed: out of memory", memory_bytes=int(peak))
            killed.append(Finished(at, largest, ending))
        self._swapping = used > SWAP_FROM * self._memory
        self._plan()
        return killed

    def _remove(self, process: _Process) -> None:
        del self._running[process.attempt]
        self._duty = sum(each.job.duty for each in self._running.values())
        self._peaks = sum(each.job.memory_bytes for each in self._running.values())

    def _plan(self) -> None:
        self._next_end_at = NEVER
        if self._running:
            first = min(process.ends_at for process in self._running.values())
            self._next_end_at = self._now + self._stall_s + max(0.0, first - self._lived) / self._speed() + 1e-9
