"""The clutch: finds the width at which a host does the most work, keeps to it, and says why.

It joins the parts. The launch starts wide, turns measure, the ramp searches, and steady holds the best width. Overloads
cut the width, drift starts the search again, and the pacer and the gauges bound the result.
"""

import math
from typing import assert_never

from msgspec import Struct, field

from manyhands.core.clutch import kept_memory
from manyhands.core.clutch.account_load import AccountLoad
from manyhands.core.clutch.beginning import beginning, usual_work
from manyhands.core.clutch.drift import Noise, missed_by, predict
from manyhands.core.clutch.launch import WIDTH_FIRST, Launch, LaunchMove
from manyhands.core.clutch.overload import UNKNOWN_S, OverloadCeiling
from manyhands.core.clutch.pacer import Pacer
from manyhands.core.clutch.ramp import Ramp
from manyhands.core.clutch.resources import STALE_S, DeviceGauge, KvGauge, MemoryGate
from manyhands.core.clutch.steady import hold_or_probe
from manyhands.core.clutch.turns import ROUNDS_MAX, TURN_MIN, Turn, TurnSums, UsualWork, work_of
from manyhands.core.values.ending import EndingKind
from manyhands.core.values.host import AGENTS, COMMANDS, SERVICE, Rate
from manyhands.core.values.host_memory import HostMemory
from manyhands.core.values.widths import Reading, Sample

WIDTH_MAX = 256
FADE = 0.93
TURNS_KEPT = 60
FIRST_LOOK_S = 0.6  # within so long a probe has read the machine, if there is one
#: After a launch that met trouble the width is nearly right, so steps are smaller and less is expected of them.
NEAR_GROWTH, NEAR_PAYS, NEAR_SPREAD = 1.3, 0.4, 0.35


class Clutch(Struct, tag="clutch"):
    width: int
    target: float  # the width before rounding and gauges; never an int, which a snapshot would give back as a float
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
    narrowed_at: float = -1.0  # attempts that started before mostly ran under another width; < 0: never narrowed
    began_at: float | None = None  # the first start
    moved_at: float = 0.0
    spread_until: float = 0.0
    ticked_at: float | None = None
    in_flight: int = 0
    settled_widths: list[float] = []
    history: list[Turn] = []
    usual: dict[str, UsualWork] = {}
    turn: TurnSums = field(default_factory=TurnSums)
    launch: Launch = field(default_factory=Launch)
    ramp: Ramp = field(default_factory=Ramp)
    noise: Noise = field(default_factory=Noise)
    ceiling: OverloadCeiling = field(default_factory=OverloadCeiling)
    account: AccountLoad = field(default_factory=AccountLoad)
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
        nature: str = SERVICE,
        streams: bool = False,
    ) -> "Clutch":
        known = beginning(start, memory, nature, streams)
        memory = None if memory is not None and memory.of else memory  # another host's rates and kinds are its own
        target = float(max(width_min, min(width_max, known.width)))
        clutch = cls(
            width=max(1, int(target)),
            target=target,
            width_min=width_min,
            width_max=width_max,
            why=known.why,
            memory=memory,
            usual=usual_work(memory),
            ramp=known.ramp,
            launch=known.launch,
            # An agent calls for minutes: how many start says little about what its account refuses.
            pacer=Pacer.begin(rate, memory, learns=nature != AGENTS),
            processes=MemoryGate.begin(memory),
        )
        clutch.account.trouble = memory.trouble if memory is not None else 0
        clutch.launch.width = target
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
        if self.memory is not None and self.launch.nature == COMMANDS and self.began_at is not None:
            look_at = self.began_at + FIRST_LOOK_S
            if look_at > at and self.in_flight >= WIDTH_FIRST and not self.processes.knows(kind):
                return look_at, f"nothing is known yet about the memory that {kind or 'this kind'} takes"
        refusal = self.processes.refuses(kind, seen_bytes)
        if refusal:
            return math.inf, refusal
        if at < self.spread_until:
            more = self.width - self.launch.borne
            return self.spread_until, f"the {more} more of width {self.width} start one after another"
        return paced

    def started(self, at: float, attempt: int, kind: str, in_flight: int) -> None:
        self.in_flight = in_flight
        if self.began_at is None:
            self.began_at = self.moved_at = self.turn.began_at = at
        self.spread_until = at + self.launch.started(at, attempt, in_flight) + self._search_apart_s()
        if in_flight > self.turn.most_in_flight:
            self.turn.most_in_flight = in_flight
        self.pacer.started(at, attempt, kind)
        self.processes.started(attempt, kind)
        if not self.turn.held_by:
            paced_until, why = self.pacer.start_at(at, kind)
            self.turn.held_by = why if paced_until > at else self.processes.refuses(kind, 0)

    def showed(self, at: float, attempt: int) -> None:
        self.launch.showed(at, attempt)
        self.account.has_life = True
        self._launch(at)

    def observe(self, sample: Sample) -> None:
        was = self.in_flight
        self.in_flight = max(0, self.in_flight - 1)
        refused = sample.rate_limited or sample.quota
        killed = sample.ending is EndingKind.OVERLOADED and not refused and sample.memory_bytes > 0
        self.processes.ended(sample, sample.ending is EndingKind.DONE, killed)
        self.launch.ended(sample.attempt, sample.ending is EndingKind.DONE)
        if refused:
            self.pacer.refused(sample)
            if not self.pacer.learns and not sample.quota:
                self._turned_away(sample.at, "was refused for its rate", was, of_rate=True)
            self._launch(sample.at)
            return
        match sample.ending:
            case EndingKind.DONE:
                self._done(sample)
            case EndingKind.OVERLOADED if sample.unreachable:
                pass  # nobody was there to refuse it
            case EndingKind.OVERLOADED:
                self._turned_away(sample.at, "ran out of memory" if killed else "was refused for load", was)
            case EndingKind.FAILED | EndingKind.TIMED_OUT | EndingKind.CANCELLED | EndingKind.PREEMPTED:
                pass  # not a sign of load
            case EndingKind.LOST:
                pass  # the host may have died, but not of its load
            case kind:
                assert_never(kind)
        self._launch(sample.at)

    def read(self, reading: Reading) -> None:
        if reading.asked_again:
            self._asked_again(reading.at, reading.asked_again)
            if reading.attempt_bytes is None:
                return
        self.pacer.read(reading)
        self.processes.read(reading)
        if (reading.kv_use is not None or reading.waiting is not None) and self.kv.read(reading):
            self._overloaded(reading.at, "the server queues or preempts", soft=True)
        self.device.read(reading, self.in_flight)
        self._follow(reading.at, self.launch.read(reading, self.in_flight))
        self._launch(reading.at)
        self._apply()

    def tick(self, at: float) -> None:
        passed_s = 0.0 if self.ticked_at is None else at - self.ticked_at
        self.ticked_at = at
        self.pacer.tick(at, passed_s)
        self._launch(at)
        self._look_at_outputs(at)
        turn = self.turn
        is_stalled = self.settled and self.turn_s is not None and turn.is_stalled(at, self.turn_s)
        if is_stalled and self.pacer.rate_per_s is None and turn.is_filled(self._aim()):
            self.history = []
            self._move(0.6 * self.target, f"completions stalled: {turn.ended} in {at - turn.began_at:.0f} s")
            self._upset(at)

    @property
    def is_launching(self) -> bool:
        return self.launch.is_on

    def export(self) -> HostMemory | None:
        return kept_memory.memory_of(self)

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
        target = float(max(self.width_min, min(self.width_max, top, target)))
        if int(target + 0.5) != self._aim():
            self.why = why
            self.moved_at = self.ticked_at or 0.0
        self.target = target
        self._apply()

    def _search_apart_s(self) -> float:
        launch = self.launch
        if self.settled or launch.is_on or launch.nature != SERVICE or self.pacer.rate_per_s is not None:
            return 0.0
        return self.ramp.starts_apart_s(self.usual_s or 0.0, self.width, self.in_flight, launch.borne, WIDTH_FIRST)

    def _launch(self, at: float) -> None:
        if self.launch.is_on:
            is_paused = self.pacer.paused_until > at
            self._follow(at, self.launch.next_move(at, self.in_flight, is_paused, self.width_max))
        elif (grown := self.account.grown(at, self.in_flight, self.target)) is not None:
            self._move(grown[0], f"{self.in_flight} in flight, and none was turned away for {grown[1]:.0f} s")

    def _follow(self, at: float, move: LaunchMove | None) -> None:
        if move is not None:
            self.ticked_at = max(at, self.ticked_at or at)
            if move.is_over:
                self._land(at, move.why)
            self._move(move.width, move.why)

    def _land(self, at: float, trouble: str) -> None:
        """The launch has ended. From here on, what attempts achieve decides."""
        self.launch.end(trouble)
        self.ramp = Ramp(NEAR_GROWTH, NEAR_PAYS, NEAR_SPREAD) if trouble else Ramp()
        self.turn = TurnSums(began_at=at, most_in_flight=self.in_flight)

    def _look_at_outputs(self, at: float) -> None:
        shown = self.launch.queue_shown(at, self.in_flight)
        if shown is not None:
            if self.kv.read(shown, from_outputs=True) and (shown.waiting or 0) > 1:  # one alone may just be slow
                self._overloaded(at, f"{shown.waiting} of {self.in_flight} wait for their first output", soft=True)
            self._apply()

    def _turned_away(self, at: float, what: str, in_flight: int, of_rate: bool = False) -> None:
        if self.launch.is_on:  # the width may be far above what was ever in flight
            self.target = min(self.target, float(max(1, in_flight)))
            self._land(at, f"an attempt {what} with {in_flight} in flight")
        if self.launch.nature != AGENTS:
            self._overloaded(at, f"an attempt {what}", soft=False)
            return
        self.settled = True
        bears = self.account.lost(at, in_flight, of_rate)
        if bears < self.target:
            self._move(bears, f"an attempt {what} with {in_flight} in flight")
            self._upset(at)

    def _asked_again(self, at: float, count: int) -> None:
        if self.launch.nature != AGENTS:
            self._turned_away(at, "was refused and asks again", self.in_flight)
            return
        bears = self.account.asked(at, count, self.in_flight)
        if bears is not None and self.launch.is_on:
            self.account.trouble, self.settled = self.in_flight, True
            self._follow(at, self.launch.over(bears, self.account.asks_told(self.in_flight)))

    def _upset(self, at: float) -> None:
        """The width was cut or the host changed, so attempts in flight tell little about what follows."""
        self.settled_turns = 0
        self.narrowed_at = at
        self.turn_s = None
        self.turn = TurnSums(began_at=at, most_in_flight=self.in_flight)

    def _overloaded(self, at: float, what: str, soft: bool) -> None:
        was = self._aim()
        cut = self.ceiling.cut(at, self.target, self.usual_s or UNKNOWN_S, soft)
        if cut is None:
            return
        self._move(cut, f"{what} at width {was}")
        self.settled = True
        self._upset(at)

    def _done(self, sample: Sample) -> None:
        took_s = sample.took_s
        self.ceiling.done_since = self.account.has_life = True
        self.usual_s = took_s if self.usual_s is None else self.usual_s + 0.05 * (took_s - self.usual_s)
        self.pacer.done(sample)
        turn = self.turn
        turn.ended += 1
        if self.narrowed_at >= 0 and (
            sample.at < self.narrowed_at + 0.8 * self.usual_s or sample.started_at < self.narrowed_at - 0.3 * took_s
        ):
            return  # ran mostly under the width before
        work = work_of(sample, self.usual)
        if work is None:
            return
        turn.add(sample.in_flight, took_s, work)
        if self.launch.is_on:  # turns begin when it has ended
            self.turn = TurnSums(began_at=sample.at, most_in_flight=self.in_flight)
        elif turn.is_complete(self._aim(), self.noise.sample_variance, self.settled and self.settled_turns >= 2):
            self._end_turn(sample.at)

    def _end_turn(self, at: float) -> None:
        sums, turn = self.turn, self.turn.close()
        self.turns += 1
        self.noise.learn_samples(turn)
        filled = sums.is_filled(self._aim())
        if self.settled and (filled or sums.held_by):  # a width that demand never reached was not found by the search
            self.settled_widths.append(float(self.target if filled else max(1, min(self.target, sums.most_in_flight))))
            del self.settled_widths[:-25]
        self.ceiling.turn_ended()
        if self.narrowed_at < sums.began_at:
            longest_s = (at - sums.began_at) / max(1, sums.ended) * ROUNDS_MAX * max(self._aim(), TURN_MIN)
            self.turn_s = longest_s if self.turn_s is None else 0.7 * self.turn_s + 0.3 * longest_s
        if not self._contradicts_memory(at, turn) and not (self.turns == 1 and self.memory is not None):
            self._take_in(at, turn, filled)
        self.turn = TurnSums(began_at=at, most_in_flight=self.in_flight)

    def _contradicts_memory(self, at: float, turn: Turn) -> bool:
        if self.memory is None or self.turns > 3:
            return False
        short = kept_memory.broken_promise(self.memory, turn)
        if not short:
            return False
        self._move(0.5 * self.target, f"goodput {-math.expm1(-short):.0%} below what memory promised")
        self.narrowed_at = at
        self.memory = None
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
        self.unfilled_turns = self.unfilled_turns + 1 if self.turn.held_by and not filled else 0
        if self.unfilled_turns >= 3 and self.target > 1.3 * most > 0:
            self._move(1.3 * most, f"never more than {most} in flight: {self.turn.held_by}")
        if (filled or self.ramp.descending) and not self.account.trouble:
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
            tops = (self.ceiling.width, self.kv.cap, self.device.cap, float(self.width_max))
            top = min(each for each in tops if each is not None)
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
