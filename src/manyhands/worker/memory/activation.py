"""An upper bound on the memory a batch takes, learned from the measured peaks of earlier batches.

Bytes are k0 + k1·n·L + k2·n·L², and no term is negative. A bound follows from this without a fit: compare a batch
with a measured one by tokens and by tokens·length. It takes at most the measured bytes times the larger ratio.
Within the sizes that were measured, fitted curves are closer. If several curves fit about equally well, the highest
one counts.
"""

import math
from collections.abc import Iterable

from manyhands.worker.memory.fitting import Fit, SeenBatch, fits_of
from manyhands.worker.memory.sightings import CELLS_MAX, Sightings, dearer
from manyhands.worker.values.planner_values import Growth

#: Fewer measured batches say too little about which terms matter.
SEEN_FOR_CURVES = 6
#: A curve whose error exceeds the best curve's by at most this explains the batches equally well.
EQUALLY_GOOD = 0.03
#: Peaks of equal batches differ by up to 5 % either way, because allocators round and threads race.
SPREAD = 1.12
#: Allocators take memory in blocks, which shows in the peaks. CUDA and huge pages use blocks of 2 MiB.
BLOCK_BYTES = 2 * 2**20
#: Equal batches differ by less than this if memory is counted in small pages.
BLOCK_BYTES_MIN = 192 * 2**10
#: The peak of a batch with fewer blocks is mostly rounding, and says little about how bytes grow with length.
TELLING_BLOCKS = 8
MARGIN, HALF_OF_MARGIN = 1.09, 1.045
#: A batch of known size and expected peak changes little. The next fit waits until such batches make up this share.
REFIT_SHARE = 0.4
#: Once every cell is filled, a new batch changes even less.
REFIT_SHARE_SETTLED = 4.0
#: This many answers are cached until the next fit.
KNOWN_MAX = 4096


class ActivationMemory:
    def __init__(self, guess: Growth, seen: Iterable[SeenBatch] = ()) -> None:
        self._guess = guess  # meant as an upper bound; it is scaled up if a batch took more
        self._sightings = Sightings(dearer, seen)
        self._since_fit = 0
        self.revision = 0  # rises whenever the predictions change
        self._refit()

    def learn(self, count: int, length: int, peak_bytes: int) -> None:
        one = SeenBatch(count, length, float(peak_bytes))
        best = self._curves[0] if self._curves else None
        curved = best.growth.of(count, length) if best is not None else 0.0
        unlikely = best is None or peak_bytes < 0.5 * curved
        if peak_bytes <= 0 or (unlikely and peak_bytes < 0.5 * self._at_least(one)):
            return  # it reused memory that was already held, so its peak does not show what it takes
        expected = best is not None and peak_bytes <= HALF_OF_MARGIN * best.above * curved
        if self._sightings.add(one):
            self._since_fit += 1
        padded = count * length
        larger = padded > self._padded_max or padded * length > self._padded_length_max
        share = REFIT_SHARE if len(self._seen) < CELLS_MAX else REFIT_SHARE_SETTLED
        if self._since_fit and (larger or not expected or self._since_fit >= share * len(self._seen)):
            self._refit()

    def bytes_of(self, count: int, length: int) -> int:
        """An upper bound on the bytes of this batch."""
        known = self._known.get((count, length))
        if known is None:
            if len(self._known) > KNOWN_MAX:
                self._known.clear()
            known = self._known[count, length] = self._bytes_of(count, length)
        return known

    def _bytes_of(self, count: int, length: int) -> int:
        if not self._seen:
            return int(self._guess.of(count, length))
        padded, padded_length = count * length, count * length * length
        bound = min(
            self._spread * self._least_bound(padded, padded_length), self._guess_scale * self._guess.of(count, length)
        )
        tokens, pairs = self._as_if_seen(length)
        x, y = count * tokens, count * pairs
        if self._curves and x <= self._padded_max and y <= self._padded_length_max:
            x, y = max(x, self._padded_min), max(y, self._padded_length_min)
            bound = min(bound, max([k0 + k1 * x + k2 * y for k0, k1, k2 in self._above_curves]))
        return int(bound) + self._block_bytes

    def _least_bound(self, padded: int, padded_length: int) -> float:
        """The lowest of the bounds that follow from each measured batch."""
        least = math.inf
        for value, of_padded, of_length in self._bounding:
            if value >= least:
                break  # they are sorted by value, so no later bound is lower
            by_padded, by_length = of_padded * padded, of_length * padded_length
            bound = by_padded if by_padded > by_length else by_length
            if bound < least:
                least = bound if bound > value else value
        return least

    def count_max(self, length: int, room_bytes: float, enough: int) -> int:
        """How many items padded to `length` fit into `room_bytes` according to `bytes_of`; at most `enough`."""
        if not self._seen:
            return max(0, min(enough, int(self._guessed_count(length, room_bytes))))
        guessed = self._guessed_count(length, (room_bytes - self._block_bytes) / self._guess_scale)
        if guessed >= enough:
            return enough
        curved, seen_max = 0.0, 0.0
        square = length * length
        if self._curves:
            room = (room_bytes - self._block_bytes) / self._margin
            tokens, pairs = self._as_if_seen(length)
            curved = min(self._count_below(fit, tokens, pairs, room / fit.above) for fit in self._curves)
            seen_max = min(self._padded_max / tokens, self._padded_length_max / pairs)
            if 1 <= curved <= seen_max:
                return min(enough, int(curved))
        room = (room_bytes - self._block_bytes) / self._spread
        most = max(
            (
                room / max(of_padded * length, of_length * square)
                for value, of_padded, of_length in self._bounding
                if value <= room
            ),
            default=0.0,
        )
        return max(0, min(enough, int(max(most, guessed, min(curved, seen_max)) + 1e-9)))

    def _guessed_count(self, length: int, room: float) -> float:
        return (room - self._guess.k0) / max(self._guess.of_item(length), 1e-9)

    def _as_if_seen(self, length: int) -> tuple[float, float]:
        """An item's L and L², with one of them raised until their ratio is that of a measured length.

        Only items of different lengths tell the two terms apart, so the curves hold only between those lengths.
        """
        square = length * length
        return max(length, square / self._length_max), max(square, length * self._length_min)

    def _count_below(self, fit: Fit, tokens: float, pairs: float, room: float) -> float:
        """How many items keep one curve below `room`. A batch below all measured sizes counts as the smallest."""
        growth = fit.growth
        room -= growth.k0
        linear, quadratic = growth.k1 * self._padded_min, growth.k2 * self._padded_length_min
        if linear + quadratic > room:
            return 0.0
        count = room / max(growth.k1 * tokens + growth.k2 * pairs, 1e-9)
        if growth.k1 > 0:
            count = min(count, (room - quadratic) / (growth.k1 * tokens))
        if growth.k2 > 0:
            count = min(count, (room - linear) / (growth.k2 * pairs))
        return count

    def seen(self) -> list[SeenBatch]:
        return list(self._seen)

    def _at_least(self, one: SeenBatch) -> float:
        _, padded, padded_length = one.features
        return max(
            (
                value * min(1.0, padded / its_padded, padded_length / its_padded_length)
                for (_, its_padded, its_padded_length), value in self._points
            ),
            default=0.0,
        )

    def _refit(self) -> None:
        self._since_fit = 0
        self._seen = self._sightings.all()
        self.revision += 1
        self._known: dict[tuple[int, int], int] = {}  # answers since the last fit
        self._points = [(one.features, one.value) for one in self._seen]
        self._bounding = bounding(self._seen)
        self._padded_max = max((features[1] for features, _ in self._points), default=0.0)
        self._padded_min = min((features[1] for features, _ in self._points), default=0.0)
        self._padded_length_min = min((features[2] for features, _ in self._points), default=0.0)
        self._padded_length_max = max((features[2] for features, _ in self._points), default=0.0)
        enough = len(self._seen) >= SEEN_FOR_CURVES
        self._block_bytes = block_of(self._seen) if enough else BLOCK_BYTES
        telling = [one.length for one in self._seen if one.value >= TELLING_BLOCKS * self._block_bytes]
        self._length_min, self._length_max = min(telling, default=1), max(telling, default=1)
        fits: list[Fit] = fits_of(self._seen, self._block_bytes) if enough else []
        unsure = 0.5 / max(1, len(self._seen))
        self._curves = [fit for fit in fits if fit.error <= fits[0].error + EQUALLY_GOOD + unsure]
        self._margin = MARGIN + unsure
        self._above_curves = [raised(fit.growth, self._margin * fit.above) for fit in self._curves]
        self._spread = SPREAD + unsure
        said = [one.value / max(self._guess.of(one.count, one.length), 1.0) for one in self._seen]
        self._guess_scale = self._spread * max([1.0, *said])
        if self._curves:
            self._spread = max(self._spread, 1.02 * self._curves[0].above / self._curves[0].below)


def bounding(seen: Iterable[SeenBatch]) -> list[tuple[float, float, float]]:
    """What measured batches took: in total, per token and per token·length. They are sorted by the total.

    Among batches of similar size and length, only the one that took least per token is kept. The others would hardly
    give a closer bound.
    """
    least: dict[tuple[int, int], tuple[float, float, float]] = {}
    for one in seen:
        _, padded, padded_length = one.features
        cell = (round(math.log2(padded)), round(math.log2(one.length)))
        by_itself, per_token, per_length = one.value, one.value / padded, one.value / padded_length
        if cell not in least or per_token < least[cell][1]:
            least[cell] = (by_itself, per_token, per_length)
    return sorted(least.values())


def block_of(seen: Iterable[SeenBatch]) -> int:
    """The largest size that divides all measured peaks, limited to the block sizes that allocators use."""
    return max(BLOCK_BYTES_MIN, min(BLOCK_BYTES, math.gcd(*(int(one.value) for one in seen))))


def raised(growth: Growth, times: float) -> tuple[float, float, float]:
    return times * growth.k0, times * growth.k1, times * growth.k2
