"""How long a batch of a model takes, learned from those that ran. The packer and Retry-After use it."""

from collections.abc import Iterable

from manyhands.worker.memory.fitting import SeenBatch, fits_of
from manyhands.worker.memory.sightings import Sightings, blended
from manyhands.worker.values.planner_values import Growth

SEEN_FOR_A_FIT = 4
#: While batches on average take what the curve says, within this share, the curve is fitted less often.
RIGHT_WITHIN = 0.1
#: How many times less often.
LESS_OFTEN = 8
#: How much the newest batch counts in that average.
NEWEST_SHARE = 0.05


class BatchDuration:
    def __init__(self, guess: Growth, seen: Iterable[SeenBatch] = ()) -> None:
        self._guess = guess
        self._sightings = Sightings(blended, seen)
        self._since_fit = 0
        self._took_of_said = 0.0
        self.growth = guess
        self._refit()

    def learn(self, count: int, length: int, took_s: float) -> None:
        if took_s <= 0:
            return
        self._sightings.add(SeenBatch(count, length, took_s))
        self._since_fit += 1
        self._took_of_said += NEWEST_SHARE * (took_s / max(self.growth.of(count, length), 1e-12) - self._took_of_said)
        is_right = abs(self._took_of_said - 1) <= RIGHT_WITHIN
        if self._since_fit >= len(self._sightings) * (LESS_OFTEN if is_right else 1):
            self._refit()

    def seen(self) -> list[SeenBatch]:
        return self._sightings.all()

    def _refit(self) -> None:
        self._since_fit = 0
        seen = self._sightings.all()
        if len(seen) < SEEN_FOR_A_FIT:
            # The guess, scaled to the speed of the measured batches.
            said = sum(self._guess.of(one.count, one.length) for one in seen)
            ratio = sum(one.value for one in seen) / said if said > 0 else 1.0
            self.growth = Growth(self._guess.k0 * ratio, self._guess.k1 * ratio, self._guess.k2 * ratio)
            return
        fits = fits_of(seen)
        # Tokens always take time. With a curve that says otherwise, everything would go into one batch.
        self.growth = next((fit.growth for fit in fits if fit.growth.of_item(1) > 0), self.growth)
