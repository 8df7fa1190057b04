"""How long a batch of a model takes, learned from those that ran: what the packer weighs and Retry-After is made of."""

from collections.abc import Iterable

from manyhands.worker.memory.fitting import SeenBatch, fits_of
from manyhands.worker.memory.sightings import Sightings, blended
from manyhands.worker.values.planner_values import Growth

SEEN_FOR_A_FIT = 4
#: While batches take what the curve says, within this on average, it is fitted again so many times less often.
RIGHT_WITHIN = 0.1
LESS_OFTEN = 8
#: How much one batch counts in that average.
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
            # The guess, as fast as the batches seen.
            said = sum(self._guess.of(one.count, one.length) for one in seen)
            ratio = sum(one.value for one in seen) / said if said > 0 else 1.0
            self.growth = Growth(self._guess.k0 * ratio, self._guess.k1 * ratio, self._guess.k2 * ratio)
            return
        fits = fits_of(seen)
        # Tokens always take time: a curve that says otherwise would put everything into one batch.
        self.growth = next((fit.growth for fit in fits if fit.growth.of_item(1) > 0), self.growth)
