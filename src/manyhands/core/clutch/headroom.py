"""The hand-tuning rule as a bound: room on the device lets a width grow, a full device makes it shrink.

People tune by hand like this: "utilisation under 70 %: one more; memory over 95 %: one less". Followed literally, the
rule moves back and forth between two widths without end. Here each step must pay, and a step that proved too much is
tried less and less often.
"""

from msgspec import Struct

from manyhands.core.values.widths import Reading

UTILISATION_LOW = 0.70
MEMORY_HIGH = 0.95
#: Memory must fall below this before crossing MEMORY_HIGH counts again.
MEMORY_CLEAR = 0.90
#: Readings in a row that must show room before the bound rises by one.
CALM_READINGS = 5
#: Readings to wait after a cut for its effect: attempts in flight end first, and only then is memory free.
SETTLE_READINGS = 10
#: A step that proved too much is tried again at the latest after this many readings.
PATIENCE_MAX = 64 * CALM_READINGS


class Headroom(Struct):
    """Takes readings, and gives `bound` and `reason`. Its fields are its whole state."""

    bound: int
    least: int = 1
    most: int | None = None
    reason: str = ""  # of the last move
    calm: int = 0  # readings in a row that showed room
    patience: int = CALM_READINGS  # how many of them a step up takes: doubled by a cut, halved by a step that held
    settling: int = 0  # readings left in which a cut may still take effect
    on_trial: int = 0  # readings left in which the last step up may still prove too much

    def read(self, reading: Reading, in_flight: int) -> None:
        memory = memory_share(reading)
        if memory is not None and memory > MEMORY_HIGH:
            self.calm = 0
            self._shrink(memory, in_flight)
            return
        if self.settling and (memory is None or memory < MEMORY_CLEAR):
            self.settling = 0
        if self.on_trial:
            self.on_trial -= 1
            if self.on_trial == 0:
                self.patience = max(CALM_READINGS, self.patience // 2)
        room = _room(reading.utilisation, memory)
        # The room on an idle device tells nothing about widths that were never in use.
        if not room or in_flight < self.bound:
            self.calm = 0
            return
        self.calm += 1
        if self.calm >= self.patience and (self.most is None or self.bound < self.most):
            self._grow(room)

    def _grow(self, room: str) -> None:
        higher = self.bound + 1
        self.reason = f"{room} in {self.calm} readings: {self.bound} → {higher}"
        self.bound = higher
        self.calm = 0
        self.on_trial = self.patience

    def _shrink(self, memory: float, in_flight: int) -> None:
        if self.settling:
            self.settling -= 1
            return
        # With nothing of ours in flight, others use that memory, and we cannot free it.
        lower = max(self.least, min(self.bound, in_flight) - 1)
        if in_flight == 0 or lower >= self.bound:
            return
        self.reason = f"memory {memory:.0%} over {MEMORY_HIGH:.0%}: {self.bound} → {lower}"
        self.bound = lower
        self.settling = SETTLE_READINGS
        self.patience = min(PATIENCE_MAX, 2 * self.patience)
        self.on_trial = 0


def _room(utilisation: float | None, memory: float | None) -> str:
    """What shows that the device could do more; "" if nothing does."""
    if utilisation is not None:
        return f"utilisation {utilisation:.0%} under {UTILISATION_LOW:.0%}" if utilisation < UTILISATION_LOW else ""
    return f"memory {memory:.0%} under {MEMORY_CLEAR:.0%}" if memory is not None and memory < MEMORY_CLEAR else ""


def memory_share(reading: Reading) -> float | None:
    if not reading.memory_total_bytes or reading.memory_used_bytes is None:
        return None
    return reading.memory_used_bytes / reading.memory_total_bytes
