"""What completions say about throughput: Little's law per attempt, averaged over turns.

One attempt that did `work` in `took_s` with `n` in flight saw a throughput of n × work / took_s. Logs make heavy
tails harmless; a turn is the mean over about one round of the width.
"""

import math

from msgspec import Struct

#: Prefill is far cheaper than decoding on every model server: what a prompt token weighs beside an answer token.
PROMPT_TOKEN_WORK = 0.02
#: One attempt may look at most this much slower or faster than its turn, in logs: an outlier is not a trend.
WINSOR = 2.0
#: Time spent queueing weighs most on small work: what is large counts a little more. Flatter is noisier on mixes
#: with rare large work, steeper hides the knee of hosts with queues (measured on slots: 0, 0.25, 0.5).
WEIGHT_POWER = 0.25
USUAL_SEEN_MAX = 12


class Usual(Struct):
    """The usual work of a kind, in tokens where the host reports them, else in seconds."""

    seen: int = 0
    work: float = 0.0
    in_tokens: bool = False

    def learn(self, work: float) -> None:
        # It freezes after a few: on a host without tokens it is the yardstick, and a yardstick must not
        # stretch with the load it measures.
        if self.seen < USUAL_SEEN_MAX:
            self.seen += 1
            self.work += (work - self.work) / self.seen


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
    """A turn in the making: sums over its completions."""

    began_at: float = 0.0
    count: int = 0
    ended: int = 0  # completions, counted or not
    most_in_flight: int = 0
    held: bool = False  # a start was held back by rate or memory
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

    def close(self) -> Turn:
        log_width = self.log_widths / self.weights
        log_throughput = log_width - self.slownesses / self.weights
        return Turn(log_width, log_throughput, 1.0, self.count, max(1e-4 / self.count, self.variance()))
