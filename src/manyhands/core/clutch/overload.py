"""Cuts the width once per incident, and sets a ceiling just below it that rises with clean turns."""

from msgspec import Struct

CUT_HARD = 0.8  # refused or killed. Precedents: Netflix 0.9, Inspect AI 0.8, TCP Reno 0.5.
CUT_SOFT = 0.95  # the server queues or preempts: work is delayed, not lost
CEILING = 0.95
HOLD_TURNS = 6
RELAX = 1.03
COOLDOWN_S = 10.0
UNKNOWN_S = 20.0  # taken for the usual duration before any is known


class OverloadCeiling(Struct):
    width: float | None = None  # None: no overload remembered
    clean_turns: int = 0
    cooled_at: float = -1e9  # no second cut before
    done_since: bool = True  # something ended well since the last cut

    def cut(self, at: float, width: float, usual_s: float, soft: bool) -> float | None:
        """The new width. None if this overload belongs to an incident that has already been answered."""
        self.clean_turns = 0
        # A host where nothing succeeds is down, not too full. More cuts would only slow its return.
        if at < self.cooled_at or not self.done_since:
            return None
        self.width = max(1.0, width * CEILING)
        self.cooled_at = at + max(COOLDOWN_S, 0.5 * usual_s)
        self.done_since = False
        return width * (CUT_SOFT if soft else CUT_HARD)

    def turn_ended(self) -> None:
        self.clean_turns += 1
        if self.width is not None and self.clean_turns > HOLD_TURNS:
            self.width = self.width * RELAX + 0.2

    def lift(self) -> None:
        self.width = None
