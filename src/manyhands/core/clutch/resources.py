"""What the host's own gauges allow: room in a KV cache, memory for one more process, devices that are full.

A gauge caps the width from moment to moment, up and down. It never changes what was learned.
"""

import math

from msgspec import Struct, field

from manyhands.core.clutch.headroom import MEMORY_HIGH, Headroom, memory_share
from manyhands.core.values.host_memory import HostMemory
from manyhands.core.values.widths import Reading, Sample

KV_TARGET = 0.95
KV_TELLS = 0.25  # below this use, the cache does not tell how many sequences would fill it
WAITING_FINE = 0.04  # share of requests queued at the server, plus one request
WAITING_BAD = 0.25
UNSEEN_QUEUE = 2.0  # more than is served, where only first outputs show the queue
PREEMPTING_BAD = 0.03  # per running sequence and second
STALE_S = 15.0
MEMORY_TARGET = 0.92  # from here on machines swap
MEMORY_SIGMAS = 0.5
PEAK_SEEN_MIN, PEAK_WINDOW = 4, 60
#: A growing process is expected to grow until it is a minute old, or half as old again as it is now.
GROWS_S = 60.0
GREW = 1.02
#: Once attempts have ended, the others are expected to grow half as long again as the longest of those did.
GREW_TIMES = 1.5
AT_REST_S = 3.0
YOUNG_BYTES, YOUNG_S = 128e6, 5.0
KILLED_PEAK = 1.3  # a victim had not reached its peak yet
VICTIM_RESERVE = 1.2
PRESSURE_BAD, PRESSURE_FINE = 0.20, 0.05


class KvGauge(Struct):
    """A model server's cache and queue."""

    cap: float | None = None
    reason: str = ""
    read_at: float | None = None
    use: float | None = None
    waiting: float = 0.0
    preempting: float = 0.0
    preemptions: int | None = None

    def read(self, reading: Reading, from_outputs: bool = False) -> bool:
        """Take in a reading, or what first outputs show. True: the server is overloaded."""
        use, running, queued = reading.kv_use or 0.0, reading.running or 0, reading.waiting or 0
        passed_s = 1.0 if self.read_at is None else min(max(reading.at - self.read_at, 0.1), 10.0)
        self.read_at = reading.at
        self.use = use if self.use is None else _drawn(self.use, use, 0.2, passed_s)
        total = running + queued
        self.waiting = _drawn(self.waiting, queued / total if total else 0.0, 0.15, passed_s)
        now = reading.preemptions or 0
        fresh = 0 if self.preemptions is None else max(0, now - self.preemptions)
        self.preemptions = now
        self.preempting = _drawn(self.preempting, fresh / max(1, running) / passed_s, 0.05, passed_s)
        self._set_cap(running, queued, total, from_outputs)
        if self.waiting <= WAITING_BAD and self.preempting <= PREEMPTING_BAD:
            return False
        self.waiting *= 0.5
        self.preempting *= 0.3
        return True

    def _set_cap(self, running: int, queued: int, total: int, from_outputs: bool) -> None:
        self.cap = None
        if running >= 2 and self.use is not None and self.use > KV_TELLS:
            self.cap = max(1.0, running * KV_TARGET / self.use)
            self.reason = f"KV cache {self.use:.0%} full with {running} running: room for {self.cap:.0f}"
        if self.waiting > WAITING_FINE + 1 / max(1, total) and (self.cap is None or running < self.cap):
            self.cap = max(1.0, float(running))
            self.reason = f"the server has {queued} waiting and works on {running}"
            if from_outputs:
                self.cap = running + UNSEEN_QUEUE  # what has shown no output may also be one that just started
                self.reason = f"{queued} of {total} wait far longer than usual for their first output"


class DeviceGauge(Struct):
    """A device that fills up with our load, or a machine that waits for memory."""

    cap: float | None = None
    reason: str = ""
    least_use: float = 1.0
    least_spilled: float = 1.0  # the least share that was seen outside the device
    headroom: Headroom | None = None  # since the device was first full
    squeezed: float | None = None  # the cap while the machine waits for memory

    def read(self, reading: Reading, in_flight: int) -> None:
        self._read_memory(reading, in_flight)
        self._read_pressure(reading.pressure or 0.0, in_flight)
        caps = [float(self.headroom.bound)] if self.headroom is not None else []
        caps += [self.squeezed] if self.squeezed is not None else []
        self.cap = min(caps, default=None)

    def _read_memory(self, reading: Reading, in_flight: int) -> None:
        use = memory_share(reading)
        # A model that is too large for the device is split from the beginning. One that became split had room before.
        spilled = reading.spilled or 0.0
        became_split = spilled > self.least_spilled
        self.least_spilled = min(self.least_spilled, spilled)
        if use is None or reading.attempt_bytes is not None:  # where attempts show their memory, it is gated instead
            return
        self.least_use = min(self.least_use, use)
        # A server that takes its memory at start-up is full from the beginning, so only growth with load counts.
        grew = use > self.least_use + 0.05 or became_split
        if self.headroom is None and use > MEMORY_HIGH and grew:
            self.headroom = Headroom(bound=max(1, in_flight))
        if self.headroom is not None:
            before = self.headroom.bound
            self.headroom.read(reading, in_flight)
            if self.headroom.bound < before and spilled:
                why = f"{spilled:.0%} of the model is in main memory"
                self.headroom.reason = f"{why}: {before} → {self.headroom.bound}"
            self.reason = self.headroom.reason

    def _read_pressure(self, pressure: float, in_flight: int) -> None:
        if pressure > PRESSURE_BAD:
            self.squeezed = float(max(1, min(in_flight - 1, self.squeezed or in_flight)))
            self.reason = f"waiting for memory {pressure:.0%} of the time with {in_flight} in flight"
        elif self.squeezed is not None and pressure < PRESSURE_FINE:
            self.squeezed = self.squeezed + 1 if self.squeezed < 4 * max(1, in_flight) else None


class Peak(Struct):
    """Peak memory of a kind, over its latest attempts."""

    seen: int = 0
    mean: float = 0.0
    variance: float = 0.0

    def learn(self, peak: float) -> None:
        self.seen += 1
        window = min(self.seen, PEAK_WINDOW)
        off = peak - self.mean
        self.mean += off / window
        if window > 1:
            self.variance += (off * (peak - self.mean) - self.variance) / window


class HeldMemory(Struct, gc=False):
    """What an attempt in flight was seen to hold."""

    kind: str
    peak_bytes: float = 0.0  # the most seen so far
    first_bytes: float = 0.0
    first_at: float | None = None
    grown_bytes: float = 0.0  # when it was last seen to grow, at `peak_at`
    peak_at: float = 0.0
    seen_at: float = 0.0

    def see(self, at: float, holds: float) -> None:
        holds = float(holds)  # equal bytes after a snapshot
        if self.first_at is None:
            self.first_bytes, self.first_at = holds, at
        if holds > GREW * self.grown_bytes:  # and not only since the last look, which may be just before
            self.grown_bytes, self.peak_at = holds, at
        self.peak_bytes = max(self.peak_bytes, holds)
        self.seen_at = at

    def expected_bytes(self, horizon_s: float = GROWS_S) -> float | None:
        """The expected peak: the most so far, and more while it still grows. None: it is too young to tell."""
        if self.first_at is None or self.seen_at - self.first_at < 0.2:
            return None
        age_s = self.seen_at - self.first_at
        least = YOUNG_BYTES if age_s < YOUNG_S else 0.0
        if self.seen_at - self.peak_at > max(AT_REST_S, 0.25 * age_s):
            return max(1.1 * self.peak_bytes, least)
        grows_s = max(horizon_s - age_s, 0.5 * age_s)
        return max(self.peak_bytes + (self.peak_bytes - self.first_bytes) / age_s * grows_s, least)


class MemoryGate(Struct):
    """Admits a process only if the expected sum of all peaks fits."""

    total_bytes: float = 0.0  # 0: no probe of processes, no gate
    cores: int = 0
    others_bytes: float = 0.0  # held by what is not ours
    held: dict[int, HeldMemory] = {}
    peaks: dict[str, Peak] = {}
    every_kind: Peak = field(default_factory=Peak)
    grew_s: float = 0.0  # the longest that an attempt that ended was seen to grow

    @classmethod
    def begin(cls, memory: HostMemory | None) -> "MemoryGate":
        gate = cls()
        for name, kind in (memory.kinds if memory else {}).items():
            if kind.memory_seen:
                gate.peaks[name] = Peak(PEAK_WINDOW, kind.memory_bytes, kind.memory_spread_bytes**2)
        return gate

    def read(self, reading: Reading) -> None:
        if reading.attempt_bytes is None or not reading.memory_total_bytes:
            return
        self.total_bytes = float(reading.memory_total_bytes)
        self.cores = reading.cores or self.cores
        ours = 0.0
        for attempt, holds in reading.attempt_bytes.items():
            ours += holds
            held = self.held.get(attempt)
            if held is not None:
                held.see(reading.at, holds)
        if reading.memory_used_bytes is not None:
            self.others_bytes = max(0.0, reading.memory_used_bytes - ours)

    def knows(self, kind: str) -> bool:
        """Can it tell whether one more fits: from a look at the machine, or from what the kind took in earlier runs?"""
        return bool(self.total_bytes) or kind in self.peaks

    def started(self, attempt: int, kind: str) -> None:
        self.held[attempt] = HeldMemory(kind)

    def ended(self, sample: Sample, done: bool, killed: bool) -> None:
        held = self.held.pop(sample.attempt, None)
        peak = max(float(sample.memory_bytes), held.peak_bytes if held else 0.0)
        if done and held is not None and held.first_at is not None:
            self.grew_s = max(self.grew_s, held.peak_at - held.first_at)
        if peak and (done or killed):
            for known in (self.peaks.setdefault(sample.kind, Peak()), self.every_kind):
                known.learn(peak if done else KILLED_PEAK * peak)

    def refuses(self, kind: str, seen_bytes: int) -> str:
        """Why one more of this kind would not fit. Empty if it fits."""
        if not self.total_bytes or not self.held:
            return ""  # one alone is always let in, because nothing could make more room for it
        expected = self.others_bytes
        variance = 0.0
        usual = {each: self._usual(each) for each in {held.kind: None for held in self.held.values()} | {kind: None}}
        for held in self.held.values():
            mean, spread = usual[held.kind]
            if held.peak_bytes < mean + spread:
                expected += max(held.peak_bytes, mean)
                variance += spread * spread
            else:
                expected += 1.05 * held.peak_bytes
        mean, spread = usual[kind]
        needs = max(mean, VICTIM_RESERVE * seen_bytes)
        reserve = MEMORY_SIGMAS * math.sqrt(variance + spread * spread)
        room = MEMORY_TARGET * self.total_bytes - expected - reserve
        if needs <= room:
            return ""
        return (
            f"needs {needs / 1e9:.1f} GB, {max(0.0, room) / 1e9:.1f} GB of {self.total_bytes / 1e9:.1f} GB left "
            f"beside the {len(self.held)} in flight at their peaks"
        )

    def _usual(self, kind: str) -> tuple[float, float]:
        peak = self.peaks.get(kind)
        if peak is not None and peak.seen >= PEAK_SEEN_MIN:
            return peak.mean, math.sqrt(max(peak.variance, (0.15 * peak.mean) ** 2))
        if seen := self.expected_of(kind) or self.expected_of(None):
            seen += [peak.mean] * peak.seen if peak is not None else []
            mean = sum(seen) / len(seen)
            spread = math.sqrt(sum((each - mean) ** 2 for each in seen) / len(seen))
            return mean, max(spread, 0.25 * mean)
        guess = self.total_bytes / (2.0 * (self.cores or 4))  # nothing seen: two to a core
        if self.every_kind.seen >= PEAK_SEEN_MIN:
            guess = max(self.every_kind.mean + math.sqrt(self.every_kind.variance), 0.5 * guess)
        return guess, 0.3 * guess

    def expected_of(self, kind: str | None) -> list[float]:
        """The expected peaks of attempts in flight, of this kind or of all."""
        horizon_s = min(GROWS_S, GREW_TIMES * self.grew_s) if self.grew_s else GROWS_S
        expected = [held.expected_bytes(horizon_s) for held in self.held.values() if kind is None or held.kind == kind]
        return [each for each in expected if each is not None]


def _drawn(value: float, towards: float, share_per_s: float, passed_s: float) -> float:
    """A moving mean whose speed does not depend on how often the probe reads."""
    return towards + (value - towards) * math.pow(1 - share_per_s, passed_s)
