"""Netflix's Vegas limit: it estimates the queue from latency and the best latency seen. For comparison."""

import math
from random import Random

from manyhands.core.values.widths import PlainLimit, Sample
from manyhands.engine.sim.rival_limits.load_sign import LoadSign, load_sign

PROBE_EVERY = 30  # samples, times the width, after which the best latency is measured again


class Vegas(PlainLimit, tag="vegas"):
    limit: float = 4.0
    width_min: int = 1
    width_max: int = 256
    reason: str = "the start"
    seed: int = 0
    probes: int = 0
    samples: int = 0
    best_s: float = 0.0

    @property
    def width(self) -> int:
        return int(self.limit)

    def observe(self, sample: Sample) -> None:
        if load_sign(sample.ending) is LoadSign.NONE:
            return
        self.samples += 1
        jitter = Random(self.seed * 1009 + self.probes).uniform(0.5, 1)
        if jitter * PROBE_EVERY * self.limit <= self.samples:
            self.probes += 1
            self.samples = 0
            self.best_s = sample.took_s
        elif self.best_s == 0 or sample.took_s < self.best_s:
            self.best_s = sample.took_s
        else:
            self._adapt(sample)

    def _adapt(self, sample: Sample) -> None:
        limit = self.limit
        queue = math.ceil(limit * (1 - self.best_s / sample.took_s))
        unit = max(1, int(math.log10(max(1.0, limit))))
        if load_sign(sample.ending) is LoadSign.TOO_MUCH:
            moved = limit - unit
        elif sample.in_flight * 2 < limit:
            return
        elif queue <= unit:
            moved = limit + 6 * unit
        elif queue < 3 * unit:
            moved = limit + unit
        elif queue > 6 * unit:
            moved = limit - unit
        else:
            return
        self.limit = float(max(self.width_min, min(self.width_max, moved)))
        self.reason = f"a queue of {queue} guessed from {sample.took_s:.1f} s against {self.best_s:.1f} s"
