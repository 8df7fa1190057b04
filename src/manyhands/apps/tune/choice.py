"""Which width to measure next, and which one to pick. Both depend only on what was measured."""

import math
from collections.abc import Mapping

from msgspec import Struct

from manyhands.apps.tune.width_figures import MeasuredWidth

#: A smaller gain of goodput is not worth a wider width, and a doubling with a smaller gain ends the ramp.
WORTH = math.log(1.05)
#: A doubling that may have gained this much is measured once more before it counts as flat.
WELL_WORTH = math.log(1.2)
#: One-sided 95 %.
Z = 1.645
REFINED = (0.75, 1.5)
#: Endings that count at one width: two rounds, between one that fills the width and one that empties it.
COUNTED_MIN, ROUNDS_COUNTED = 8, 2


class WidthChoice(Struct, frozen=True):
    """`width` is the smallest within 5 % of the best. `low` to `high` are the widths that are not clearly worse."""

    width: int
    low: int
    high: int
    best: int

    def __str__(self) -> str:
        return f"{self.width} ({self.low}–{self.high})" if self.low < self.high else str(self.width)


class NextWidth(Struct, frozen=True):
    """The width to measure next, or None and the reason."""

    width: int | None
    why: str = ""


def counted_at(width: int, probes: int) -> int:
    """Each probe task runs equally often, so that every width gets the same mix."""
    return math.ceil(max(COUNTED_MIN, ROUNDS_COUNTED * width) / probes) * probes


def next_width(steps: Mapping[int, MeasuredWidth], most: int) -> NextWidth:
    """Doubles until that no longer pays, then tries widths around the best one."""
    ramp: list[MeasuredWidth] = []
    width = 1
    while width in steps:
        ramp.append(steps[width])
        why = _ends_ramp(ramp)
        if why:
            return _refine(steps, ramp, most, why)
        if _is_unclear(ramp):
            return NextWidth(width, "once more, because the gain is not certain")
        if width >= most:
            return _refine(steps, ramp, most, f"{most} is the highest width that was asked for")
        width = min(2 * width, most)
    return NextWidth(width)


def _ends_ramp(ramp: list[MeasuredWidth]) -> str:
    last = ramp[-1]
    if last.overloads:
        return f"overloaded at {last.width}: {last.why}"
    if not last.filled:
        return f"never more than {last.peak} in flight: claims, lanes or the rate budget do not allow more"
    if len(ramp) > 1 and _gain(ramp) < WORTH and not _is_unclear(ramp):
        return f"{ramp[-2].width} → {last.width} changed goodput by {math.expm1(_gain(ramp)):+.0%}"
    return ""


def _gain(ramp: list[MeasuredWidth]) -> float:
    before, last = ramp[-2], ramp[-1]
    return last.log_goodput - before.log_goodput if before.goodput_per_s > 0 else math.inf


def _is_unclear(ramp: list[MeasuredWidth]) -> bool:
    if len(ramp) < 2 or ramp[-1].rounds > 1:
        return False
    gain, spread = _gain(ramp), math.hypot(ramp[-2].spread, ramp[-1].spread)
    return gain < WORTH and gain + Z * spread > WELL_WORTH


def _refine(steps: Mapping[int, MeasuredWidth], ramp: list[MeasuredWidth], most: int, why: str) -> NextWidth:
    picked = choose({step.width: step for step in ramp})
    if picked is None or ramp[-1].rate_limited:  # no width in between tells more about a rate
        return NextWidth(None, why)
    too_wide = min((step.width for step in steps.values() if step.overloads or not step.filled), default=most + 1)
    for factor in REFINED:
        width = int(factor * picked.width + 0.5)
        if 1 <= width < too_wide and width not in steps:
            return NextWidth(width)
    return NextWidth(None, why)


def choose(steps: Mapping[int, MeasuredWidth]) -> WidthChoice | None:
    sound = [step for _, step in sorted(steps.items()) if not step.overloads and step.goodput_per_s > 0]
    if not sound:
        return None
    best = max(sound, key=lambda step: step.goodput_per_s)
    near: list[int] = []
    alike: list[int] = []
    for step in sound:
        short, spread = best.log_goodput - step.log_goodput, math.hypot(best.spread, step.spread)
        # The best of several noisy figures is probably too high by chance, so a narrower width is preferred.
        if short <= WORTH + min(spread, WORTH):
            near.append(step.width)
        if short <= max(WORTH, Z * spread):
            alike.append(step.width)
    return WidthChoice(near[0], min(near[0], alike[0]), alike[-1], best.width)
