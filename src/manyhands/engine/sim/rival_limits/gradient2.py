"""Netflix's Gradient2 limit: it compares recent latency with its long-term mean. For comparison.

The original needs ten samples a second, which tasks that take seconds never give. Here a window is ten samples.
"""

from manyhands.core.values.widths import PlainLimit, Sample
from manyhands.engine.sim.rival_limits.load_sign import LoadSign, load_sign

WINDOW, WINDOW_S = 10, 1.0
TOLERANCE = 1.5
QUEUE = 4
SMOOTHING = 0.2
LONG_WARM_UP, LONG_WINDOW = 10, 600


class Gradient2(PlainLimit, tag="gradient2"):
    limit: float = 4.0
    width_min: int = 1
    width_max: int = 256
    reason: str = "the start"
    took: list[float] = []  # noqa: RUF012 - a struct copies it
    most_in_flight: float = 0.0
    window_until: float = 0.0
    long_s: float = 0.0
    long_seen: int = 0

    @property
    def width(self) -> int:
        return int(self.limit)

    def started(self, at: float, attempt: int, kind: str, in_flight: int) -> None:
        self.most_in_flight = max(self.most_in_flight, in_flight)

    def observe(self, sample: Sample) -> None:
        if load_sign(sample.ending) is LoadSign.NONE:
            return
        self.took.append(sample.took_s)
        if len(self.took) < WINDOW or sample.at < self.window_until:
            return
        short_s, most = sum(self.took) / len(self.took), self.most_in_flight
        self.took, self.most_in_flight, self.window_until = [], 0.0, sample.at + WINDOW_S
        self._learn_long(short_s)
        if self.long_s / short_s > 2:
            self.long_s *= 0.95
        if most < self.limit / 2:
            return
        gradient = max(0.5, min(1.0, TOLERANCE * self.long_s / short_s))
        moved = self.limit * (1 - SMOOTHING) + (self.limit * gradient + QUEUE) * SMOOTHING
        self.limit = float(max(self.width_min, min(self.width_max, moved)))
        self.reason = f"{short_s:.1f} s lately against {self.long_s:.1f} s usually"

    def _learn_long(self, short_s: float) -> None:
        self.long_seen += 1
        warm = self.long_seen <= LONG_WARM_UP
        share = 1 / self.long_seen if warm else 2 / (LONG_WINDOW + 1)
        self.long_s += share * (short_s - self.long_s)
