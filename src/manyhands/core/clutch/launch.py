"""The start on a host whose width is unknown: the width doubles step by step while nothing in flight shows trouble.

Endings come late, and people judge by the first minutes. Whether the host can take a width shows within seconds of a
start: no refusal, first outputs as fast as before, spare memory and cores, nothing queued at the server. The launch
doubles on such evidence. It ends at the first sign of trouble, at the last width without trouble. The clutch then
refines that width.
"""

from statistics import median

from msgspec import Struct

from manyhands.core.values.host import AGENTS, COMMANDS, SERVICE
from manyhands.core.values.widths import Reading

WIDTH_FIRST = 4
GROWTH = 2.0
#: Seconds between two steps at first. Bad news of an agent takes up to ten seconds: its program retries by itself.
STEP_S = {SERVICE: 0.5, COMMANDS: 0.5, AGENTS: 15.0}
#: The time between later steps is at least this share of the time since the first start.
STRETCH = 0.1
FULL = 0.9  # of the width must be in flight before it may grow
FILLED = 0.2  # of a step it must have been full for
SHOWN = 0.75  # of those in flight must have shown output, where outputs are seen
#: If no first output comes for this long, or for this many times the usual wait, while some are overdue, the host
#: queues.
OVERDUE_S, OVERDUE_TIMES = 3.0, 3.0
WAITS_KEPT = 12
QUEUE_LOOK_S = 1.0
#: A step whose first outputs take this long, and this many times as long as those of the first step, is the last.
LATE_S, LATE_TIMES = 2.0, 2.5
#: The largest width that time alone can reach, if nothing is seen of the attempts in flight.
UNSEEN_MAX = 32.0
KV_TARGET = 0.9
KV_TELLS = 0.08
#: The demand for cores, as a multiple of the cores, that still pays, because waiting and computing overlap.
CORES_DEMAND = 1.6
CORES_FULL = 0.95
#: Without readings of the machine, commands may fill its memory unseen. Blind doubling led to 78 kills in 100.
COMMANDS_UNSEEN = 4.0
QUEUED_MIN, QUEUED_SHARE = 1, 0.1
#: Where first outputs only trickle, the width goes back to this many times what is served.
SERVED_ROOM = 1.1
PRESSURE_BAD = 0.2
#: If doubling the attempts in flight increases the work by less than this, the host is full.
PAYS = 1.05
PULSE_S = 1.9
#: The starts of a step leave one after another, so that a host can refuse the first before the last has left.
SPREAD_S = {SERVICE: 0.4, COMMANDS: 0.0, AGENTS: 2.4}


class LaunchMove(Struct, frozen=True):
    width: float
    why: str
    is_over: bool = False


class Pulse(Struct, array_like=True, gc=False):
    at: float
    running: int
    tokens: int


class Launch(Struct):
    nature: str = SERVICE
    streams: bool = False  # first outputs will be seen
    is_on: bool = True
    width: float = WIDTH_FIRST
    borne: int = 0  # in flight at the last step, without trouble
    most: int = 0  # the most ever in flight without trouble since
    last_start_at: float = 0.0
    done: int = 0
    began_at: float | None = None
    stepped_at: float = 0.0
    filled_at: float | None = None
    spread_at: float | None = None  # when the first of this step started beyond the first few
    silent: dict[int, float] = {}  # attempt → when it started; it has shown no output yet
    waits: list[float] = []  # how long the first few took to show output
    first_wait_s: float = 0.0  # the longest of the first step
    step_wait_s: float = 0.0  # and of the step under way
    shown_at: float = 0.0
    queue_seen_at: float = -1e9  # when first outputs were last taken for a gauge
    cores_each: float = 0.0  # the most cores an attempt was seen to keep busy; the mean of agents
    looks: int = 0  # readings behind that mean
    cap: float | None = None  # by the last reading
    cap_why: str = ""
    reads_host: bool = False  # a probe shows something of what is in flight
    pulses: list[Pulse] = []
    tokens_per_s: dict[int, float] = {}  # running → the most tokens a second seen with so many
    trouble: str = ""

    # What is told

    def started(self, at: float, attempt: int, in_flight: int) -> float:
        """An attempt starts. Returns how long the next start of this step should wait."""
        if self.began_at is None:
            self.began_at = self.stepped_at = at
        self.silent[attempt] = at
        self.last_start_at = at
        self._note_full(at, in_flight)
        if not self.is_on or in_flight <= WIDTH_FIRST:
            return 0.0
        if self.spread_at is None:
            self.spread_at = at
        # Where attempts end within the spread, their successors would be spread as well, and the width never filled.
        left_s = SPREAD_S[self.nature] - (at - self.spread_at)
        return max(0.0, min(left_s, SPREAD_S[self.nature] / max(WIDTH_FIRST, self.width - self.borne)))

    def showed(self, at: float, attempt: int) -> None:
        started_at = self.silent.pop(attempt, None)
        if started_at is not None:
            if len(self.waits) < WAITS_KEPT:  # later ones may have queued
                self.waits.append(at - started_at)
            self.step_wait_s = max(self.step_wait_s, at - started_at)
            if self.width <= WIDTH_FIRST:
                self.first_wait_s = self.step_wait_s
            self.shown_at = at

    def ended(self, attempt: int, is_done: bool) -> None:
        self.silent.pop(attempt, None)
        self.done += is_done

    def overdue(self, at: float) -> int:
        """How many have shown no output for far longer than is usual; 0 where outputs are not seen."""
        if len(self.waits) < WIDTH_FIRST:
            return 0
        patience_s = self._patience_s()
        return sum(1 for started_at in self.silent.values() if at - started_at > patience_s)

    def queue_shown(self, at: float, in_flight: int) -> Reading | None:
        """Without a gauge, first outputs show a server's queue: what is long without output waits in it."""
        if self.is_on or self.nature != SERVICE or self.reads_host or len(self.waits) < WIDTH_FIRST:
            return None
        if at - self.queue_seen_at < QUEUE_LOOK_S:
            return None
        self.queue_seen_at = at
        late = self.overdue(at)
        return Reading(at, "outputs", running=max(0, in_flight - late), waiting=late)

    # What follows

    def read(self, reading: Reading, in_flight: int) -> LaunchMove | None:
        """What a probe saw: a sign of trouble, or how far the width may go."""
        self.cap, self.cap_why = None, ""
        sign = self._read_server(reading, in_flight) or self._read_machine(reading, in_flight)
        if not self.is_on:
            return None
        if sign is not None:
            return self.over(*sign)
        return self._one_for_each_slot(reading) or self._one_for_each_core(reading)

    def next_move(self, at: float, in_flight: int, is_paused: bool, width_max: int) -> LaunchMove | None:
        """Time passed, something started, or something was shown."""
        if not self.is_on or self.began_at is None:
            return None
        is_full = self._note_full(at, in_flight)
        if at - self.last_start_at >= STEP_S[self.nature] - 1e-3:
            # Fewer tasks than the width: what runs on was borne all the same.
            self.most = max(self.most, in_flight)
        if stalled := self._stalled(at, in_flight):
            return self.over(*stalled)
        if not is_full or is_paused or not self._is_due(at, in_flight):
            return None
        if self._shows_late():
            later = f"first outputs take {self.step_wait_s:.1f} s with {in_flight} in flight"
            return self.over(self.width, f"{later}, {self.first_wait_s:.1f} s with {WIDTH_FIRST}")
        width = min(GROWTH * self.width, float(width_max))
        why = f"{in_flight} in flight and no sign of trouble"
        cap, cap_why = self._cap()
        if cap is not None and cap < width:
            width, why = max(self.width, cap), cap_why
        if width < self.width + 1:
            # This is as wide as the evidence allows. From here on, what attempts achieve decides.
            return self.over(self.width, "") if self.done >= max(6.0, self.width) else None
        self.borne = in_flight
        self.width = width
        self.stepped_at, self.filled_at, self.spread_at, self.step_wait_s = at, None, None, 0.0
        return LaunchMove(width, why)

    def end(self, trouble: str) -> None:
        self.is_on = False
        self.trouble = trouble

    def over(self, width: float, why: str) -> LaunchMove:
        self.end(why)
        return LaunchMove(max(1.0, width), why, is_over=True)

    def _note_full(self, at: float, in_flight: int) -> bool:
        if in_flight < FULL * int(self.width + 0.5):
            return False
        if self.filled_at is None:
            self.filled_at = at
        self.most = max(self.most, in_flight)
        return True

    def _is_due(self, at: float, in_flight: int) -> bool:
        assert self.began_at is not None
        step_s = max(STEP_S[self.nature], STRETCH * (at - self.began_at))
        if at - self.stepped_at < step_s - 1e-3 or self.filled_at is None:
            return False
        if at - self.filled_at < FILLED * step_s - 1e-3:
            return False
        # What ends without output never shows any.
        is_to_show = self.nature == AGENTS or self.streams
        sees_outputs = self.nature != COMMANDS and (bool(self.waits) or (is_to_show and not self.done))
        return not sees_outputs or in_flight - len(self.silent) >= SHOWN * in_flight

    def _patience_s(self) -> float:
        return max(OVERDUE_S, OVERDUE_TIMES * median(self.waits))

    def _shows_late(self) -> bool:
        """Without gauges: the prompts of a step are read one after another, so more at once bring little."""
        if self.nature != SERVICE or self.reads_host or not self.first_wait_s:
            return False
        return self.step_wait_s > max(LATE_S, LATE_TIMES * self.first_wait_s)

    def _stalled(self, at: float, in_flight: int) -> tuple[float, str] | None:
        """First outputs have stopped coming, so attempts without output wait in the host's queue."""
        if self.nature != SERVICE or not self.waits or not self.silent:
            return None
        patience_s = self._patience_s()
        shown = in_flight - len(self.silent)
        if shown < 1:
            return None
        if at - self.shown_at > patience_s and at - min(self.silent.values()) > patience_s:
            waiting = len(self.silent)
            return shown + max(
                1.0, 0.1 * shown
            ), f"{waiting} of {in_flight} have shown no output for {patience_s:.0f} s"
        return self._trickles(at, in_flight, patience_s)

    def _trickles(self, at: float, in_flight: int, patience_s: float) -> tuple[float, str] | None:
        """First outputs come one at a time, as others end: the rest wait in the host's queue."""
        is_old = self.filled_at is not None and at - self.filled_at > patience_s
        if not is_old or in_flight - len(self.silent) >= SHOWN * in_flight:
            return None
        waiting = self.overdue(at)
        served = in_flight - waiting
        if waiting <= max(QUEUED_MIN, QUEUED_SHARE * served):
            return None
        why = f"{waiting} of {in_flight} have shown no output for {patience_s:.0f} s"
        return max(float(self.borne), SERVED_ROOM * served), why

    def _cap(self) -> tuple[float | None, str]:
        if self.cap is not None:
            return self.cap, self.cap_why
        if self.reads_host or self.waits:
            return None, ""
        if self.nature == COMMANDS:
            return COMMANDS_UNSEEN, "nothing shows how much memory the commands take"
        return UNSEEN_MAX, f"{UNSEEN_MAX:.0f} in flight, and nothing shows how the host bears them"

    def _read_server(self, reading: Reading, in_flight: int) -> tuple[float, str] | None:
        running, queued = reading.running, reading.waiting
        if running is None:
            return None
        self.reads_host = True
        if queued is not None and running and queued > max(QUEUED_MIN, QUEUED_SHARE * running):
            return float(max(self.borne, running)), f"{queued} wait at the server and {running} run"
        if reading.kv_use is not None and reading.kv_use > KV_TELLS and running >= 2:
            self.cap = max(float(self.borne), running * KV_TARGET / reading.kv_use)
            self.cap_why = f"KV cache {reading.kv_use:.0%} full with {running} running: room for {self.cap:.0f}"
        if self._brings_no_more(reading, running):
            return float(max(1, self.borne)), f"{running} running bring no more tokens a second than fewer did"
        return None

    def _brings_no_more(self, reading: Reading, running: int) -> bool:
        if reading.tokens_total is None:
            return False
        self.pulses.append(Pulse(reading.at, running, reading.tokens_total))
        self.pulses = [pulse for pulse in self.pulses if pulse.at >= reading.at - 2 * PULSE_S]
        first = next((pulse for pulse in self.pulses if reading.at - pulse.at <= PULSE_S + 0.5), None)
        if first is None or reading.at - first.at < PULSE_S or first.running != running or self.silent:
            return False
        per_s = (reading.tokens_total - first.tokens) / (reading.at - first.at)
        self.tokens_per_s[running] = max(per_s, self.tokens_per_s.get(running, 0.0))
        fewer = [most for width, most in self.tokens_per_s.items() if width <= 0.6 * running]
        return bool(fewer) and self.tokens_per_s[running] < PAYS * max(fewer)

    def _one_for_each_slot(self, reading: Reading) -> LaunchMove | None:
        """A server that says how many it works on at once gets so many at once, and no step beyond."""
        if self.nature != SERVICE or not reading.slots:
            return None
        self.cap, self.cap_why = float(reading.slots), f"the server works on {reading.slots} at once"
        if self.borne or reading.slots <= self.width:
            return None
        self.width, self.filled_at = self.cap, None
        return LaunchMove(self.width, self.cap_why)

    def _one_for_each_core(self, reading: Reading) -> LaunchMove | None:
        cores = reading.cores or 0
        if self.nature != COMMANDS or reading.attempt_bytes is None or cores <= self.width or self.borne:
            return None
        self.width, self.filled_at = float(cores), None
        return LaunchMove(self.width, f"one for each of {cores} cores")

    def _read_machine(self, reading: Reading, in_flight: int) -> tuple[float, str] | None:
        if reading.attempt_bytes is None:
            return None
        self.reads_host = True
        pressure = reading.pressure or 0.0
        if pressure > PRESSURE_BAD:
            return in_flight - 1.0, f"waiting for memory {pressure:.0%} of the time with {in_flight} in flight"
        cores = reading.cores or 0
        if cores and reading.busy_cores is not None and in_flight:
            self._cap_by_cores(cores, reading.busy_cores, in_flight)
        return None

    def _cap_by_cores(self, cores: int, busy_cores: float, in_flight: int) -> None:
        each = busy_cores / in_flight
        if self.nature == AGENTS:  # they think and work by turns, and at first all of them work at once
            self.looks += 1
            self.cores_each += (each - self.cores_each) / self.looks
        elif busy_cores < CORES_FULL * cores:
            # Once the cores are full, each attempt gets less of them. Only the largest value ever seen tells the
            # demand.
            self.looks += 1
            self.cores_each = max(self.cores_each, each)
        elif not self.looks:
            self.cap = float(max(cores, in_flight))
            self.cap_why = f"{in_flight} in flight keep all {cores} cores busy"
            return
        if self.cores_each > 0.0:
            self.cap = max(float(self.borne), float(cores), CORES_DEMAND * cores / self.cores_each)
            self.cap_why = f"an attempt keeps {self.cores_each:.1f} of {cores} cores busy: room for {self.cap:.0f}"
