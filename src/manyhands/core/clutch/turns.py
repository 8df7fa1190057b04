"""Measures throughput from completions: Little's law for each attempt, averaged over turns.

One attempt that did `work` in `took_s` with `n` in flight saw a throughput of n × work / took_s. Logarithms make heavy
tails harmless. A turn is the mean over about one round of the width.
"""

import math

from msgspec import Struct

from manyhands.core.values.widths import Sample

TURN_MIN = 6  # completions
TURN_SPREAD, TURN_SPREAD_FAST = 0.10, 0.15  # how well a turn's mean must be known: settled, searching
ROUNDS_MAX, ROUNDS_MAX_FAST = 4, 2  # a turn ends after this many rounds of the width in any case
FILLED = 0.9  # of the width: a turn that had less in flight tells nothing about the width
STALLED_S, STALLED_TURNS = 5.0, 2.5
#: The weight of a prompt token relative to an answer token. On every model server prefill is far cheaper than decoding.
PROMPT_TOKEN_WORK = 0.02
#: One attempt counts as at most this much slower or faster than its turn, in logs, so that an outlier is not a trend.
WINSOR = 2.0
#: Queueing distorts small work most, so large work counts a little more. A smaller value is noisier on mixes with rare
#: large work. A larger value hides the knee of hosts with queues. Measured on slots: 0, 0.25, 0.5.
WEIGHT_POWER = 0.25
USUAL_SEEN_MAX = 12


class UsualWork(Struct):
    """The usual work of a kind, in tokens where the host reports them, else in seconds."""

    seen: int = 0
    work: float = 0.0
    in_tokens: bool = False

    def learn(self, work: float) -> None:
        # It is fixed after a few attempts: on a host without tokens it is the unit of work, and a unit must not change
        # with the load that it measures.
        if self.seen < USUAL_SEEN_MAX:
            self.seen += 1
            self.work += (work - self.work) / self.seen


def work_of(sample: Sample, usual: dict[str, UsualWork]) -> float | None:
    """The work of a completion, which also teaches what its kind usually takes. None: it does not compare."""
    tokens = sample.tokens_out + PROMPT_TOKEN_WORK * sample.tokens_in
    known = usual.get(sample.kind)
    if known is None:
        known = usual[sample.kind] = UsualWork()
    if tokens:
        known.in_tokens = True
    elif known.in_tokens:
        return None  # seconds and tokens do not compare
    known.learn(tokens or sample.took_s)
    return tokens or known.work


class Turn(Struct, gc=False):
    log_width: float  # ln of the mean number in flight
    log_throughput: float  # ln of work per second
    weight: float  # 1 when new, fades with every later turn
    count: int
    variance: float  # of log_throughput

    @property
    def log_slowdown(self) -> float:
        return self.log_width - self.log_throughput


class TurnSums(Struct):
    """A turn that is not complete yet: sums over its completions."""

    began_at: float = 0.0
    count: int = 0
    ended: int = 0  # completions, counted or not
    most_in_flight: int = 0
    held_by: str = ""  # what held a start back: a rate or memory, with its figure
    weights: float = 0.0
    log_widths: float = 0.0
    slownesses: float = 0.0  # Σ weight × ln seconds per work
    squares: float = 0.0  # Σ weight²
    square_slownesses: float = 0.0
    square_slownesses2: float = 0.0

    def add(self, in_flight: float, took_s: float, work: float) -> None:
        slowness = math.log(took_s / work)
        if self.count >= 6:
            mean = self.slownesses / self.weights
            slowness = max(mean - WINSOR, min(mean + WINSOR, slowness))
        weight = work**WEIGHT_POWER
        square = weight * weight
        self.count += 1
        self.weights += weight
        self.log_widths += weight * math.log(max(1.0, in_flight))
        self.slownesses += weight * slowness
        self.squares += square
        self.square_slownesses += square * slowness
        self.square_slownesses2 += square * slowness * slowness

    def variance(self) -> float:
        """Of the mean log slowness."""
        mean = self.slownesses / self.weights
        spread = self.square_slownesses2 - 2 * mean * self.square_slownesses + mean * mean * self.squares
        return max(0.0, spread) / self.weights**2

    def is_filled(self, width: int) -> bool:
        return self.most_in_flight >= FILLED * width

    def is_stalled(self, at: float, turn_s: float) -> bool:
        """Whether it lasts far longer than turns usually do."""
        return at - self.began_at > STALLED_TURNS * turn_s + STALLED_S

    def is_complete(self, width: int, sample_variance: float, is_settled: bool) -> bool:
        """Whether the mean is known well enough. A search does not wait as long as a settled width."""
        needed = max(min(width, self.most_in_flight), TURN_MIN)
        if self.count < needed:
            return False
        variance = max(self.variance(), 0.5 * sample_variance / self.count)
        spread, rounds = (TURN_SPREAD, ROUNDS_MAX) if is_settled else (TURN_SPREAD_FAST, ROUNDS_MAX_FAST)
        return variance <= spread * spread or self.count >= rounds * needed

    def close(self) -> Turn:
        log_width = self.log_widths / self.weights
        log_throughput = log_width - self.slownesses / self.weights
        return Turn(log_width, log_throughput, 1.0, self.count, max(1e-4 / self.count, self.variance()))
