"""Holding the best known width, and looking beside it when what is known there has faded."""

import math

from manyhands.core.clutch.ramp import WIDTH_PRICE, Step
from manyhands.core.clutch.turns import Turn

FADED = 0.12  # turns lighter than this no longer count
LEVEL_WIDTH = 0.08  # turns this close in ln width are one level
STEP_FIRST, STEP_LAST = 0.18, 0.12  # a probe's size in ln width, shrinking as turns pass
EVIDENCE_ABOVE, EVIDENCE_BELOW = 0.6, 0.12  # decayed turns below which a probe is due
TIE = 0.5  # standard errors within which a wider level counts as good as the best


def levels(turns: list[Turn]) -> list[tuple[float, float, float]]:
    """(ln width, ln slowdown, weight) from narrow to wide, the slowdown made non-decreasing.

    More in flight never makes an attempt faster: pooling neighbours that say otherwise removes noise (PAVA).
    """
    cells: dict[int, list[float]] = {}
    for turn in turns:
        if turn.weight > FADED:
            cell = cells.setdefault(round(turn.log_width / LEVEL_WIDTH), [0.0, 0.0, 0.0])
            weight = turn.weight * turn.count
            cell[0] += weight * turn.log_width
            cell[1] += weight * turn.log_slowdown
            cell[2] += weight
    blocks: list[tuple[float, float, list[tuple[float, float]]]] = []  # (Σ weighted slowdown, Σ weight, members)
    for widths, slowdowns, weight in sorted(cells.values(), key=lambda cell: cell[0] / cell[2]):
        block = (slowdowns, weight, [(widths / weight, weight)])
        while blocks and blocks[-1][0] / blocks[-1][1] >= block[0] / block[1]:
            below = blocks.pop()
            block = (below[0] + block[0], below[1] + block[1], below[2] + block[2])
        blocks.append(block)
    return [(width, sums / total, weight) for sums, total, members in blocks for width, weight in members]


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


def hold_or_probe(turns: list[Turn], sample_variance: float, settled_turns: int, width_min: int, top: float) -> Step:
    log_width = min(best_level(turns, sample_variance), math.log(max(1.0, top)))
    best = max(1, int(math.exp(log_width) + 0.5))
    size = max(STEP_LAST, STEP_FIRST / math.sqrt(1 + settled_turns / 4))
    above = max(best + 1, int(best * math.exp(size) + 0.5))
    if above <= top + 0.5 and _evidence(turns, wider_than=0.5 * (best + above)) < EVIDENCE_ABOVE:
        return Step(above, f"{best} is the best known; a look above")
    below = min(best - 1, int(best * math.exp(-size) + 0.5))
    if below >= width_min and _evidence(turns, narrower_than=0.5 * (best + below)) < EVIDENCE_BELOW:
        return Step(below, f"{best} is the best known; a look below")
    return Step(best, f"best goodput of the last {len(turns)} turns")


def _evidence(turns: list[Turn], wider_than: float = 0.0, narrower_than: float = 0.0) -> float:
    if wider_than:
        bound = math.log(wider_than)
        return sum(turn.weight for turn in turns if turn.log_width > bound)
    bound = math.log(narrower_than)
    return sum(turn.weight for turn in turns if turn.log_width < bound)
