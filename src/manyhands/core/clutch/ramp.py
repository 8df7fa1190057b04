"""The search for the knee: grow while growth pays, and try narrower widths if the first growth did not pay."""

import math

from msgspec import Struct
from msgspec.structs import replace

from manyhands.core.clutch.turns import Turn

#: 1 % more width must bring this much more goodput, in per cent, for growth to continue.
PAYS_MIN = 0.12
#: The price of a wider width when two are compared: 5 % of goodput per unit of ln width.
WIDTH_PRICE = 0.05
GROWTH_MIN = 0.12
#: Two turns closer than this in ln width tell nothing about the effect of width.
APART_MIN = 0.10
SEARCH_SPREAD = 0.2  # of the usual duration: the starts of one search step are spread over this time


class RampStep(Struct, frozen=True):
    """Where the search goes next. `settled`: it has finished."""

    width: float
    why: str
    settled: bool = False
    shrinks: bool = False


class Ramp(Struct):
    first_growth: float = 2.0
    pays_prior: float = 0.7  # elasticity expected before anything was measured, and how sure we are of it
    pays_spread: float = 0.4
    best: Turn | None = None  # the best level so far: a copy, because a snapshot would separate it from the history
    grew: bool = False  # some growth has clearly paid
    descending: bool = False
    looks_again: bool = False  # the last step may have brought nothing: it is measured once more before it counts

    def after(self, turn: Turn, width: float, width_min: float) -> RampStep:
        if self.descending:
            return self._descend(turn, width, width_min)
        best = self.best
        if best is None or abs(turn.log_width - best.log_width) < APART_MIN:
            self.best = replace(turn)
            wider = max(width * self.first_growth, width + 1)
            return RampStep(wider, f"{math.exp(turn.log_width):.0f} in flight are measured: {wider:.0f} to compare")
        return self._climb(best, turn, width, width_min)

    def starts_apart_s(self, usual_s: float, width: int, in_flight: int, borne: int, step_min: int) -> float:
        """How long the next start waits, so that a server can refuse the first start of a step before the last."""
        known = math.exp(self.best.log_width) if self.best is not None else borne
        return 0.0 if in_flight <= known else SEARCH_SPREAD * usual_s / max(step_min, width - known)

    def _climb(self, best: Turn, turn: Turn, width: float, width_min: float) -> RampStep:
        apart = turn.log_width - best.log_width
        gained = turn.log_throughput - best.log_throughput
        spread = math.sqrt(turn.variance + best.variance)
        pays = self._elasticity(gained, apart, spread)
        gain = f"{math.expm1(apart):+.0%} in flight bought {math.expm1(gained):+.0%} goodput"
        if apart > 0 and gained <= 0 and pays > PAYS_MIN and not self.looks_again:
            self.looks_again = True
            return RampStep(width, f"{gain}, which is within the noise of ±{spread:.0%}: measured once more")
        self.looks_again = False
        if apart > 0 and gained > 0 and pays > PAYS_MIN:
            if gained > WIDTH_PRICE * apart:
                self.best = replace(turn)
            growth = 1 + min(1.0, max(GROWTH_MIN, pays))
            return RampStep(max(width * growth, width + 1 if width < 8 else 0.0), gain)
        if apart > 0 and not self.grew and gained + spread < 0.5 * apart:
            # Growth never paid, so the width may be far above the knee.
            self.descending = True
            below = max(width_min, math.exp(best.log_width) / 2)
            flat = f"{gain}; looking below"
            return RampStep(below, flat, settled=below >= 0.9 * math.exp(best.log_width), shrinks=True)
        stays = best if gained < WIDTH_PRICE * apart else turn
        return RampStep(
            math.exp(stays.log_width), f"{gain}; settled", settled=True, shrinks=stays.log_width < turn.log_width
        )

    def _elasticity(self, gained: float, apart: float, spread: float) -> float:
        """d ln goodput / d ln width between two turns, drawn towards what is expected."""
        raw, variance = gained / apart, (spread / apart) ** 2
        if raw > 0.25 and gained > spread:
            self.grew = True
        sureness = 1 / self.pays_spread**2
        pays = (max(-3.0, min(2.0, raw)) / variance + self.pays_prior * sureness) / (1 / variance + sureness)
        self.pays_prior = max(0.15, min(self.pays_prior, pays))  # it does not rise with width
        return pays

    def _descend(self, turn: Turn, width: float, width_min: float) -> RampStep:
        best = self.best
        assert best is not None  # a descent starts from a measured level
        if best.log_width - turn.log_width < 0.2:
            return RampStep(width, "waiting for the wider attempts to drain")
        lost = best.log_throughput - turn.log_throughput
        spread = math.sqrt(turn.variance + best.variance)
        if lost < max(0.10, spread) and width > width_min:
            self.best = replace(turn)
            below = max(width_min, width / 2)
            return RampStep(
                below, f"halving cost {max(0.0, -math.expm1(-lost)):.0%} goodput: halving again", shrinks=True
            )
        why = f"halving cost {-math.expm1(-lost):.0%} goodput: back"
        return RampStep(math.exp(best.log_width), why, settled=True)
