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
#: The largest width that time alone can reach, if nothing is seen of the attempts in flight.
UNSEEN_MAX = 32.0
KV_TARGET = 0.9
KV_TELLS = 0.08
#: The demand for cores, as a multiple of the cores, that still pays, because waiting and computing overlap.
CORES_DEMAND = 1.6
#: Without readings of the machine, commands may fill its memory unseen. Blind doubling led to 78 kills in 100.
COMMANDS_UNSEEN = 4.0
QUEUED_MIN, QUEUED_SHARE = 1, 0.1
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
    is_on: bool = True
    width: float = WIDTH_FIRST
    borne: int = 0  # in flight at the last step, without trouble
    most: int = 0  # the most ever in flight without trouble since
    done: int = 0
    began_at: float | None = None
    stepped_at: float = 0.0
    filled_at: float | None = None
    silent: dict[int, float] = {}  # attempt → when it started; it has shown no output yet
    waits: list[float] = []  # how long the first few took to show output
    shown_at: float = 0.0
    cores_each: float = 0.0  # the most cores an attempt was seen to keep busy; the mean of agents
    looks: int = 0  # readings behind that mean
    cap: float | None = None  # by the last reading
    cap_why: str = ""
    reads_host: bool = False  # a probe shows something of what is in flight
    pulses: list[Pulse] = []
    tokens_per_s: dict[int, float] = {}  # running → the most tokens a second seen with so many
    trouble: str = ""
    lost_at: float | None = None  # when an attempt was last turned away

    # What is told

    def started(self, at: float, attempt: int, in_flight: int) -> float:
        """An attempt starts. Returns how long the next start of this step should wait."""
        if self.began_at is None:
            self.began_at = self.stepped_at = at
        self.silent[attempt] = at
        self._note_full(at, in_flight)
        if not self.is_on or in_flight <= WIDTH_FIRST:
            return 0.0
        return SPREAD_S[self.nature] / max(WIDTH_FIRST, self.width - self.borne)

    def showed(self, at: float, attempt: int) -> None:
        started_at = self.silent.pop(attempt, None)
        if started_at is not None:
            if len(self.waits) < WAITS_KEPT:  # later ones may have queued
                self.waits.append(at - started_at)
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

    # What follows

    def read(self, reading: Reading, in_flight: int) -> LaunchMove | None:
        """What a probe saw: a sign of trouble, or how far the width may go."""
        self.cap, self.cap_why = None, ""
        sign = self._read_server(reading, in_flight) or self._read_machine(reading, in_flight)
        if not self.is_on:
            return None
        return self._over(*sign) if sign is not None else self._one_for_each_core(reading)

    def next_move(self, at: float, in_flight: int, is_paused: bool, width_max: int) -> LaunchMove | None:
        """Time passed, something started, or something was shown."""
        if not self.is_on or self.began_at is None:
            return None
        is_full = self._note_full(at, in_flight)
        if stalled := self._stalled(at, in_flight):
            return self._over(*stalled)
        if not is_full or is_paused or not self._is_due(at, in_flight):
            return None
        width = min(GROWTH * self.width, float(width_max))
        why = f"{in_flight} in flight and no sign of trouble"
        cap, cap_why = self._cap()
        if cap is not None and cap < width:
            width, why = max(self.width, cap), cap_why
        if width < self.width + 1:
            # This is as wide as the evidence allows. From here on, what attempts achieve decides.
            return self._over(self.width, "") if self.done >= max(6.0, self.width) else None
        self.borne = in_flight
        self.width = width
        self.stepped_at, self.filled_at = at, None
        return LaunchMove(width, why)

    def borne_by_agents(self) -> float | None:
        """Where a step of agents that met trouble falls back to: a whole burst of them is not lost twice."""
        return float(self.borne) if self.is_on and self.nature == AGENTS and self.borne else None

    def survivors(self, at: float, in_flight: int, width: float) -> LaunchMove | None:
        """The agents that run on some time after others were turned away are what the account bears."""
        if self.nature != AGENTS or self.lost_at is None or at - self.lost_at < STEP_S[AGENTS]:
            return None
        self.lost_at = None
        if in_flight <= width:
            return None
        return LaunchMove(float(in_flight), f"{in_flight} run on {STEP_S[AGENTS]:.0f} s after others were turned away")

    def end(self, trouble: str) -> None:
        self.is_on = False
        self.trouble = trouble

    def _over(self, width: float, why: str) -> LaunchMove:
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
        # Agents that end without output never show any.
        sees_outputs = self.nature != COMMANDS and (bool(self.waits) or (self.nature == AGENTS and not self.done))
        return not sees_outputs or in_flight - len(self.silent) >= SHOWN * in_flight

    def _patience_s(self) -> float:
        return max(OVERDUE_S, OVERDUE_TIMES * median(self.waits))

    def _stalled(self, at: float, in_flight: int) -> tuple[float, str] | None:
        """First outputs have stopped coming, so attempts without output wait in the host's queue."""
        if self.nature != SERVICE or not self.waits or not self.silent:
            return None
        patience_s = self._patience_s()
        shown = in_flight - len(self.silent)
        if shown < 1 or at - self.shown_at <= patience_s or at - min(self.silent.values()) <= patience_s:
            return None
        return shown + max(
            1.0, 0.1 * shown
        ), f"{len(self.silent)} of {in_flight} have shown no output for {patience_s:.0f} s"

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
            each = reading.busy_cores / in_flight
            if self.nature == AGENTS:  # they think and work by turns, and at first all of them work at once
                self.looks += 1
                self.cores_each += (each - self.cores_each) / self.looks
            else:
                # Once the cores are full, each attempt gets less of them. Only the largest value ever seen tells the
                # demand.
                self.cores_each = max(self.cores_each, each)
            if self.cores_each > 0.0:
                self.cap = max(float(self.borne), float(cores), CORES_DEMAND * cores / self.cores_each)
                self.cap_why = f"an attempt keeps {self.cores_each:.1f} of {cores} cores busy: room for {self.cap:.0f}"
        return None
