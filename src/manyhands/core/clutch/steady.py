"""Holds the best known width, and tries its neighbours when what is known of them has faded."""

import math

from manyhands.core.clutch.ramp import WIDTH_PRICE, RampStep
from manyhands.core.clutch.turns import Turn

FADED = 0.12  # turns lighter than this no longer count
LEVEL_WIDTH = 0.08  # turns this close in ln width are one level
STEP_FIRST, STEP_LAST = 0.18, 0.12  # a probe's size in ln width, shrinking as turns pass
EVIDENCE_ABOVE, EVIDENCE_BELOW = 0.6, 0.12  # decayed turns below which a probe is due
FIT_SWEEPS = 40
NEAR = 0.3  # turns further away in ln width tell nothing about the probed width
TIE = 0.5  # standard errors within which a wider level counts as good as the best


def levels(turns: list[Turn]) -> list[tuple[float, float, float]]:
    """(ln width, ln slowdown, weight) from narrow to wide, the slowdown fitted.

    More attempts in flight never make one faster, and each additional one slows it more. So a non-decreasing convex fit
    through all levels removes noise.
    """
    cells: dict[int, list[float]] = {}
    for turn in turns:
        if turn.weight > FADED:
            cell = cells.setdefault(round(turn.log_width / LEVEL_WIDTH), [0.0, 0.0, 0.0])
            weight = turn.weight * turn.count
            cell[0] += weight * turn.log_width
            cell[1] += weight * turn.log_slowdown
            cell[2] += weight
    known = sorted((cell[0] / cell[2], cell[1] / cell[2], cell[2]) for cell in cells.values())
    widths, weights = [each[0] for each in known], [each[2] for each in known]
    fitted = _convex_fit(widths, [each[1] for each in known], weights)
    return list(zip(widths, fitted, weights, strict=True))


def _convex_fit(xs: list[float], ys: list[float], weights: list[float]) -> list[float]:
    """Weighted least squares over sums of hinges with bends ≥ 0, by coordinate descent."""
    total = sum(weights)
    mean = sum(weight * y for weight, y in zip(weights, ys, strict=True)) / total
    residuals = [y - mean for y in ys]
    count = len(xs)
    hinges = [[max(0.0, x - bend) for x in xs] for bend in xs[:-1]]
    norms = [sum(w * h * h for w, h in zip(weights, hinge, strict=True)) for hinge in hinges]
    bends = [0.0] * len(hinges)
    for _ in range(FIT_SWEEPS):
        moved = sum(weight * residual for weight, residual in zip(weights, residuals, strict=True)) / total
        for i in range(count):
            residuals[i] -= moved
        for k, hinge in enumerate(hinges):
            pull = 0.0
            for i in range(k + 1, count):
                pull += weights[i] * hinge[i] * residuals[i]
            bend = max(0.0, bends[k] + pull / norms[k])
            step = bend - bends[k]
            if step:
                bends[k] = bend
                for i in range(k + 1, count):
                    residuals[i] -= step * hinge[i]
    return [y - residual for y, residual in zip(ys, residuals, strict=True)]


def best_level(turns: list[Turn], sample_variance: float) -> float:
    """ln of the widest width that is not distinguishably worse than the best, after the price of width."""
    worths = [(width, (1 - WIDTH_PRICE) * width - slowdown, weight) for width, slowdown, weight in levels(turns)]
    best_width, best_worth, best_weight = max(worths, key=lambda level: (level[1], level[0]))
    chosen = best_width
    for width, worth, weight in worths:
        spread = math.sqrt(sample_variance * (1 / weight + 1 / best_weight))
        if width > chosen and worth >= best_worth - TIE * spread:
            chosen = width
    return chosen


def hold_or_probe(
    turns: list[Turn], sample_variance: float, settled_turns: int, width_min: int, top: float
) -> RampStep:
    log_width = min(best_level(turns, sample_variance), math.log(max(1.0, top)))
    best = max(1, int(math.exp(log_width) + 0.5))
    size = max(STEP_LAST, STEP_FIRST / math.sqrt(1 + settled_turns / 4))
    above = max(best + 1, int(best * math.exp(size) + 0.5))
    if above <= top + 0.5 and _evidence(turns, 0.5 * (best + above), above) < EVIDENCE_ABOVE:
        return RampStep(above, f"{best} is the best known; a look above")
    below = min(best - 1, int(best * math.exp(-size) + 0.5))
    if below >= width_min and _evidence(turns, 0.5 * (best + below), below) < EVIDENCE_BELOW:
        return RampStep(below, f"{best} is the best known; a look below")
    return RampStep(best, f"best goodput of the last {len(turns)} turns", shrinks=True)


def _evidence(turns: list[Turn], beside: float, probe: int) -> float:
    """Decayed turns between the edge of the best width and a little beyond the probe."""
    edge, far = math.log(beside), math.log(probe)
    if far > edge:
        return sum(turn.weight for turn in turns if edge < turn.log_width <= far + NEAR)
    return sum(turn.weight for turn in turns if far - NEAR <= turn.log_width < edge)
