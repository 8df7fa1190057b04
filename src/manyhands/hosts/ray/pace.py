"""How fast one model worker is, and how long one takes to be there: measured while they work.

A function of what it is told, like the policy that goes by it.
"""

from msgspec import Struct

#: What was measured so long ago weighs half: another model may be asked for by now.
_HALF_LIFE_S = 300.0
#: Before one has ever started: what a worker with a model of a few gigabytes takes.
START_GUESS_S = 60.0


class Work(Struct, frozen=True):
    """What is known of the workers of a host at one moment."""

    at: float
    up: int
    items: int  # that wait or are being computed
    done: int  # ever


class Pace:
    def __init__(self) -> None:
        self._last: Work | None = None
        self._warm = False  # something has been done since there was none: the models are loaded
        self._done = 0.0
        self._worker_s = 0.0

    @property
    def rate(self) -> float | None:
        """Items a second that one worker does, or at most does; None: not known yet."""
        return (self._done or 1.0) / self._worker_s if self._worker_s else None

    @property
    def is_bound(self) -> bool:
        """Nothing was done yet while it was measured: the rate is what it would be if the next was done right now."""
        return not self._done

    def observe(self, work: Work) -> float | None:
        last, self._last = self._last, work
        if last is None or work.at <= last.at:
            return self.rate
        done = work.done - last.done
        if not last.up:
            self._warm = done > 0
            return self.rate
        if self._warm:
            faded = 0.5 ** ((work.at - last.at) / _HALF_LIFE_S)
            # A worker without work says nothing of how fast it is.
            busy = min(last.up, last.items)
            if busy or done:
                self._done = self._done * faded + done
                self._worker_s = self._worker_s * faded + max(busy, 1) * (work.at - last.at)
        self._warm = self._warm or done > 0
        return self.rate
