"""The clutch: finds the width at which a host does the most work, keeps to it, and says why.

It joins the parts: turns measure, the ramp searches, steady holds, overloads cut, drift starts over, and the
pacer and the gauges bound the result.
"""

import math
from typing import assert_never

from msgspec import Struct, field

from manyhands.core.clutch.drift import Noise, missed_by, predict
from manyhands.core.clutch.overload import OverloadCeiling
from manyhands.core.clutch.pacer import Pacer
from manyhands.core.clutch.ramp import Ramp
from manyhands.core.clutch.resources import STALE_S, DeviceGauge, KvGauge, MemoryGate
from manyhands.core.clutch.steady import hold_or_probe
from manyhands.core.clutch.turns import PROMPT_TOKEN_WORK, USUAL_SEEN_MAX, Turn, TurnSums, Usual
from manyhands.core.values.ending import EndingKind
from manyhands.core.values.host import Rate
from manyhands.core.values.host_memory import HostMemory, KindMemory
from manyhands.core.values.widths import Reading, Sample

WIDTH_MAX = 256
COLD_START = 4
WARM_START = 0.9  # of the remembered width
TURN_MIN = 6  # completions
TURN_SPREAD, TURN_SPREAD_FAST = 0.10, 0.15  # how well a turn's mean must be known: settled, searching
ROUNDS_MAX, ROUNDS_MAX_FAST = 4, 2  # rounds of the width after which a turn ends anyway
FADE = 0.93
TURNS_KEPT = 60
FILLED = 0.9  # of the width: a turn that never had more in flight says nothing about more
STALLED_S, STALLED_TURNS = 5.0, 2.5
#: While searching, starts keep apart so that a host can refuse the first of a step before the last has left: at
#: most this many times the starts that completions ask for.
SPREAD = 4.0
SPREAD_MIN_S = 0.05  # closer together, starts are not worth keeping apart: waiting would cost more than it teaches
FAR_BELOW_MEMORY = 0.45  # in ln throughput
CORES_BUSY = 0.7  # below this share of busy cores, more processes cost the others little
IDLE_PER_CORE = 2.0  # idle cores alone justify no more: processes may wait for something else than a core
IDLE_LOOK_S = 10.0


class Clutch(Struct, tag="clutch"):
    width: int
    target: float  # the width before rounding and gauges
    width_min: int = 1
    width_max: int = WIDTH_MAX
    why: str = ""
    memory: HostMemory | None = None
    settled: bool = False
    settled_turns: int = 0  # since the last upset
    turns: int = 0
    unfilled_turns: int = 0
    usual_s: float | None = None
    turn_s: float | None = None  # the longest a full turn usually takes
    narrowed_at: float = -1.0  # attempts that ran before mostly saw another width; < 0: never narrowed
    began_at: float | None = None  # the first start
    moved_at: float = 0.0
    spread_until: float = 0.0
    ticked_at: float | None = None
    start_fixed: bool = False  # the config says where to start
    in_flight: int = 0
    settled_widths: list[float] = []
    history: list[Turn] = []
    usual: dict[str, Usual] = {}
    turn: TurnSums = field(default_factory=TurnSums)
    ramp: Ramp = field(default_factory=Ramp)
    noise: Noise = field(default_factory=Noise)
    ceiling: OverloadCeiling = field(default_factory=OverloadCeiling)
    pacer: Pacer = field(default_factory=Pacer)
    kv: KvGauge = field(default_factory=KvGauge)
    device: DeviceGauge = field(default_factory=DeviceGauge)
    processes: MemoryGate = field(default_factory=MemoryGate)

    @classmethod
    def begin(
        cls,
        width_min: int = 1,
        width_max: int = WIDTH_MAX,
        start: int | None = None,
        rate: Rate | None = None,
        memory: HostMemory | None = None,
    ) -> "Clutch":
        target, why, ramp = float(start or COLD_START), "nothing known yet", Ramp()
        if memory is not None:  # what was found out here is worth more than what was guessed before
            target = WARM_START * memory.width
            why = f"an earlier run settled at {memory.width:.0f}"
            ramp = Ramp(first_growth=1.3, pays_prior=0.3, pays_spread=0.35)
        elif start is not None:
            why = f"`width.start` is {start}"
        target = max(float(width_min), min(float(width_max), target))
        clutch = cls(
            width=max(1, int(target)),
            target=target,
            width_min=width_min,
            width_max=width_max,
            why=why,
            start_fixed=start is not None and memory is None,
            memory=memory,
            ramp=ramp,
            pacer=Pacer.begin(rate, memory),
            processes=MemoryGate.begin(memory),
        )
        for name, kind in (memory.kinds if memory else {}).items():
            if kind.seen:
                clutch.usual[name] = Usual(USUAL_SEEN_MAX, kind.work)
        clutch._apply()
        return clutch

    @property
    def reason(self) -> str:
        for gauge in (self.kv, self.device):
            if gauge.cap is not None and int(gauge.cap + 0.5) <= self.width < self._aim():
                return gauge.reason
        return self.why

    # Told from outside

    def start_at(self, at: float, kind: str, seen_bytes: int = 0) -> tuple[float, str]:
        paced = self.pacer.start_at(at, kind)
        if paced[0] > at:
            return paced
        refusal = self.processes.refuses(kind, seen_bytes)
        if refusal:
            return math.inf, refusal
        if at < self.spread_until:
            return self.spread_until, f"a wider width of {self.width} is taken up step by step"
        return paced

    def started(self, at: float, attempt: int, kind: str, in_flight: int) -> None:
        self.in_flight = in_flight
        if self.began_at is None:
            self.began_at = self.moved_at = self.turn.began_at = at
        if not self.settled and self.usual_s is not None and self.pacer.rate_per_s is None:
            apart_s = self.usual_s / (SPREAD * self.width)
            self.spread_until = at + apart_s if apart_s >= SPREAD_MIN_S else 0.0
        if in_flight > self.turn.most_in_flight:
            self.turn.most_in_flight = in_flight
        self.pacer.started(at, attempt, kind)
        self.processes.started(attempt, kind)
        if not self.turn.held and (self.pacer.start_at(at, kind)[0] > at or self.processes.refuses(kind, 0)):
            self.turn.held = True

    def observe(self, sample: Sample) -> None:
        self.in_flight = max(0, self.in_flight - 1)
        refused = sample.rate_limited or sample.quota
        killed = sample.ending is EndingKind.OVERLOADED and not refused and sample.memory_bytes > 0
        self.processes.ended(sample, sample.ending is EndingKind.DONE, killed)
        if refused:
            self.pacer.refused(sample)
            return
        match sample.ending:
            case EndingKind.DONE:
                self._done(sample)
            case EndingKind.OVERLOADED:
                what = "ran out of memory" if killed else "was refused for load"
                self._overloaded(sample.at, f"an attempt {what}", soft=False)
            case EndingKind.FAILED | EndingKind.TIMED_OUT | EndingKind.CANCELLED | EndingKind.PREEMPTED:
                pass  # not a sign of load
            case EndingKind.LOST:
                pass  # the host may have died, but not of what it was given
            case kind:
                assert_never(kind)

    def read(self, reading: Reading) -> None:
        self.pacer.read(reading)
        self.processes.read(reading)
        if (reading.kv_use is not None or reading.waiting is not None) and self.kv.read(reading):
            self._overloaded(reading.at, "the server queues or preempts", soft=True)
        self.device.read(reading, self.in_flight)
        self._use_idle_cores(reading)
        self._apply()

    def tick(self, at: float) -> None:
        passed_s = 0.0 if self.ticked_at is None else at - self.ticked_at
        self.ticked_at = at
        self.pacer.tick(at, passed_s)
        if (
            self.settled
            and self.turn_s is not None
            and at - self.turn.began_at > STALLED_TURNS * self.turn_s + STALLED_S
            and self.pacer.rate_per_s is None
            and self.turn.most_in_flight >= FILLED * self._aim()
        ):
            waited_s = at - self.turn.began_at
            self.history = []
            self._move(0.6 * self.target, f"completions stalled: {self.turn.ended} in {waited_s:.0f} s")
            self._upset(at)

    def export(self) -> HostMemory | None:
        if not self.turns:
            return None
        # Still searching, only what has been run counts, not what was to be tried next.
        most_run = max((math.exp(turn.log_width) for turn in self.history), default=self.target)
        widths = sorted(self.settled_widths[-25:]) or [min(self.target, most_run)]
        throughputs = sorted(turn.log_throughput for turn in self.history[-12:])
        rate_per_s = self.pacer.known_per_s or (self.pacer.rate_per_s if self.pacer.refusals else None)
        return HostMemory(
            width=widths[len(widths) // 2],
            turns=len(self.settled_widths),
            log_throughput=throughputs[len(throughputs) // 2] if throughputs else None,
            rate_per_s=rate_per_s,
            burst=self.pacer.burst_seen(rate_per_s) if rate_per_s else 0.0,
            kinds=self._export_kinds(),
            at=self.ticked_at or 0.0,
        )

    # What follows

    def _aim(self) -> int:
        return max(1, int(self.target + 0.5))

    def _apply(self) -> None:
        width = self._aim()
        for cap in (self.kv.cap, self.device.cap):
            if cap is not None:
                width = min(width, int(cap + 0.5))
        self.width = max(1, width)

    def _move(self, target: float, why: str) -> None:
        top = self.ceiling.width if self.ceiling.width is not None else float(self.width_max)
        if self.kv.read_at is not None and (self.ticked_at or 0.0) - self.kv.read_at > STALE_S:
            top = min(top, self.target)
            why = f"{why}; no growth while the gauges are silent"
        target = max(float(self.width_min), min(float(self.width_max), top, target))
        if int(target + 0.5) != self._aim():
            self.why = why
            self.moved_at = self.ticked_at or 0.0
        self.target = target
        self._apply()

    def _use_idle_cores(self, reading: Reading) -> None:
        """While searching, cores that are seen idle need no turn of measuring to be used."""
        if self.settled or self.start_fixed or not reading.cores or reading.attempt_bytes is None:
            return
        if not self.turns and not self.in_flight and self.memory is None and self.target < reading.cores:
            self._move(float(reading.cores), f"nothing known yet: one for each of {reading.cores} cores")
        busy = reading.utilisation
        if busy is None or self.in_flight < FILLED * self.width or reading.at - self.moved_at < IDLE_LOOK_S:
            return
        wider = min(self.in_flight * CORES_BUSY / max(busy, 0.01), IDLE_PER_CORE * reading.cores)
        if wider >= self.target + 1:
            self._move(wider, f"{busy:.0%} of {reading.cores} cores busy with {self.in_flight} in flight")

    def _upset(self, at: float) -> None:
        """The width was cut or the host changed: what is in flight says little about what comes."""
        self.settled_turns = 0
        self.narrowed_at = at
        self.turn_s = None
        self.turn = TurnSums(began_at=at, most_in_flight=self.in_flight)

    def _overloaded(self, at: float, what: str, soft: bool) -> None:
        was = self._aim()
        cut = self.ceiling.cut(at, self.target, self.usual_s or 20.0, soft)
        if cut is None:
            return
        self._move(cut, f"{what} at width {was}")
        self.settled = True
        self._upset(at)

    def _done(self, sample: Sample) -> None:
        took_s = sample.took_s
        self.ceiling.done_since = True
        self.usual_s = took_s if self.usual_s is None else self.usual_s + 0.05 * (took_s - self.usual_s)
        self.pacer.done(sample)
        turn = self.turn
        turn.ended += 1
        if self.narrowed_at >= 0 and (
            sample.at < self.narrowed_at + 0.8 * self.usual_s or sample.started_at < self.narrowed_at - 0.3 * took_s
        ):
            return  # ran mostly under the width before
        work = sample.tokens_out + PROMPT_TOKEN_WORK * sample.tokens_in
        usual = self.usual.get(sample.kind)
        if usual is None:
            usual = self.usual[sample.kind] = Usual()
        if work:
            usual.in_tokens = True
        elif usual.in_tokens:
            return  # seconds and tokens do not compare
        usual.learn(work or took_s)
        turn.add(sample.in_flight, took_s, work or usual.work)
        needed = max(min(self._aim(), turn.most_in_flight), TURN_MIN)
        if turn.count >= needed and self._known(turn, needed):
            self._end_turn(sample.at)

    def _known(self, turn: TurnSums, needed: int) -> bool:
        fast = not self.settled or self.settled_turns < 2
        variance = max(turn.variance(), 0.5 * self.noise.sample_variance / turn.count)
        spread, rounds = (TURN_SPREAD_FAST, ROUNDS_MAX_FAST) if fast else (TURN_SPREAD, ROUNDS_MAX)
        return variance <= spread * spread or turn.count >= rounds * needed

    def _end_turn(self, at: float) -> None:
        sums, turn = self.turn, self.turn.close()
        self.turns += 1
        self.noise.learn_samples(turn)
        filled = sums.most_in_flight >= FILLED * self._aim()
        if self.settled and (filled or sums.held):  # what nobody asked for is not a width that was found
            self.settled_widths.append(self.target if filled else max(1.0, min(self.target, sums.most_in_flight)))
            del self.settled_widths[:-25]
        self.ceiling.turn_ended()
        if self.narrowed_at < sums.began_at:
            longest_s = (at - sums.began_at) / max(1, sums.ended) * ROUNDS_MAX * max(self._aim(), TURN_MIN)
            self.turn_s = longest_s if self.turn_s is None else 0.7 * self.turn_s + 0.3 * longest_s
        if not self._contradicts_memory(at, turn) and not (self.turns == 1 and self.memory is not None):
            self._take_in(at, turn, filled)
        self.turn = TurnSums(began_at=at, most_in_flight=self.in_flight)

    def _contradicts_memory(self, at: float, turn: Turn) -> bool:
        memory = self.memory
        if memory is None or self.turns > 3 or memory.log_throughput is None:
            return False
        short = memory.log_throughput - turn.log_throughput
        if short < FAR_BELOW_MEMORY or turn.log_width < math.log(0.5 * memory.width):
            return False
        self._move(0.5 * self.target, f"goodput {-math.expm1(-short):.0%} below what memory promised")
        self.narrowed_at = at
        self.history = []
        self.ramp.best = None
        return True

    def _take_in(self, at: float, turn: Turn, filled: bool) -> None:
        prediction = predict(self.history, turn.log_width, self.noise.turn_variance)
        self.noise.learn_turn(turn, self.history, prediction.pays if prediction else 0.0)
        if self.settled and (missed := missed_by(turn, prediction, self.noise.turn_variance)):
            self._start_over(at, missed)
            return
        for each in self.history:
            each.weight *= FADE
        del self.history[:-TURNS_KEPT]
        self.history.append(turn)
        self.settled_turns += 1
        most = self.turn.most_in_flight
        self.unfilled_turns = self.unfilled_turns + 1 if self.turn.held and not filled else 0
        if self.unfilled_turns >= 3 and self.target > 1.3 * most > 0:
            self._move(1.3 * most, f"rate or memory let in no more than {most}")
        if filled or self.ramp.descending:
            self._go(at, turn)

    def _start_over(self, at: float, missed: float) -> None:
        self.history = []
        self.ramp.best = None
        self._upset(at)
        off = f"goodput {math.expm1(missed):+.0%} against what this width gave"
        if missed < 0:
            self._move(self.target * max(0.5, min(0.9, math.exp(missed))), f"{off}: the host has slowed down")
        else:
            self.ceiling.lift()
            self.settled = False
            self.ramp = Ramp(first_growth=1.25, grew=True, pays_prior=self.ramp.pays_prior)

    def _go(self, at: float, turn: Turn) -> None:
        if self.settled:
            top = min(
                each
                for each in (self.ceiling.width, self.kv.cap, self.device.cap, float(self.width_max))
                if each is not None
            )
            step = hold_or_probe(self.history, self.noise.sample_variance, self.settled_turns, self.width_min, top)
            if step.shrinks and step.width < 0.85 * self._aim():
                self.narrowed_at = at
            self._move(step.width, step.why)
            return
        step = self.ramp.after(turn, self.target, self.width_min)
        was = self.target
        self._move(step.width, step.why)
        if step.shrinks:
            self.narrowed_at = at
        if step.settled or (step.width > was and self.target < 1.03 * was):
            self.settled = True
            self.settled_turns = 0
            self.ramp.descending = False

    def _export_kinds(self) -> dict[str, KindMemory]:
        kinds: dict[str, KindMemory] = {}
        for name in sorted({*self.usual, *self.processes.peaks}):
            usual, peak = self.usual.get(name, Usual()), self.processes.peaks.get(name)
            known = peak is not None and peak.seen >= 4
            kinds[name] = KindMemory(
                work=usual.work if usual.seen >= 5 else 0.0,
                seen=usual.seen if usual.seen >= 5 else 0,
                memory_bytes=peak.mean if peak and known else 0.0,
                memory_spread_bytes=math.sqrt(max(0.0, peak.variance)) if peak and known else 0.0,
                memory_seen=peak.seen if peak and known else 0,
            )
        return kinds
