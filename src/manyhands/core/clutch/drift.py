"""Notices when the host is no longer the one that was measured: a turn is then far from its prediction."""

import math

from msgspec import Struct

from manyhands.core.clutch.turns import Turn

KERNEL = 0.25  # how far in ln width a turn informs about its neighbours
PAYS_PRIOR, PAYS_SPREAD = 0.15, 0.25
MISS_MIN, MISS_SIGMAS = 0.18, 3.5
TURN_NOISE = 0.06  # standard deviation of ln throughput between turns, before any is measured
EVIDENCE_MIN = 2.5  # decayed turns a prediction must rest on


class Noise(Struct):
    sample_variance: float = 0.3  # of one attempt's ln slowness
    turn_variance: float = TURN_NOISE**2

    def learn_samples(self, turn: Turn) -> None:
        self.sample_variance += 0.2 * (turn.variance * turn.count - self.sample_variance)

    def learn_turn(self, turn: Turn, history: list[Turn], pays: float) -> None:
        floor = self.sample_variance / turn.count
        if not history:
            self.turn_variance = max(TURN_NOISE**2, floor)
            return
        last = history[-1]
        miss = turn.log_throughput - last.log_throughput - pays * (turn.log_width - last.log_width)
        seen = min(miss * miss / 2, 9 * self.turn_variance)
        self.turn_variance = max(0.85 * self.turn_variance + 0.15 * seen, floor, 1e-4)


class Prediction(Struct, frozen=True):
    log_throughput: float
    pays: float  # elasticity
    evidence: float  # decayed turns it rests on


def predict(history: list[Turn], log_width: float, turn_variance: float) -> Prediction | None:
    """ln throughput at a width, by local regression over the turns so far."""
    total = widths = throughputs = squares = products = 0.0
    for turn in history:
        weight = turn.weight * math.exp(-0.5 * ((turn.log_width - log_width) / KERNEL) ** 2)
        total += weight
        widths += weight * turn.log_width
        throughputs += weight * turn.log_throughput
        squares += weight * turn.log_width**2
        products += weight * turn.log_width * turn.log_throughput
    if total < 1e-6:
        return None
    mean_width, mean_throughput = widths / total, throughputs / total
    spread = squares / total - mean_width**2
    slope = (products / total - mean_width * mean_throughput) / spread if spread > 1e-9 else 0.0
    known, expected = total * spread / turn_variance, 1 / PAYS_SPREAD**2
    pays = (max(-3.0, min(3.0, slope)) * known + PAYS_PRIOR * expected) / (known + expected)
    return Prediction(mean_throughput + pays * (log_width - mean_width), pays, total)


def missed_by(turn: Turn, prediction: Prediction | None, turn_variance: float) -> float:
    """How far the turn is off in ln throughput; 0 when noise may explain it."""
    if prediction is None or prediction.evidence <= EVIDENCE_MIN:
        return 0.0
    miss = turn.log_throughput - prediction.log_throughput
    noise = math.sqrt(turn_variance * (1 + 1 / prediction.evidence))
    return miss if abs(miss) > max(MISS_MIN, MISS_SIGMAS * noise) else 0.0
