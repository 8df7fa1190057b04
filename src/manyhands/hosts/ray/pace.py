"""How fast one model worker is, and how long one takes to start, measured while they work.

It is a function of its inputs, like the policy that uses it.
"""

from msgspec import Struct

#: A measurement of this age counts half, because tasks may ask for another model by now.
_HALF_LIFE_S = 300.0
#: Used until one has started: the time of a worker with a model of a few gigabytes.
START_GUESS_S = 60.0


class WorkerLoad(Struct, frozen=True):
    """What is known about the workers of a host at one moment."""

    at: float
    up: int
    items: int  # items that wait or are being computed
    done: int  # items done so far, in total


class Pace:
    def __init__(self) -> None:
        self._last: WorkerLoad | None = None
        self._warm = False  # an item was done since workers started: the models are loaded
        self._done = 0.0
        self._worker_s = 0.0

    @property
    def rate(self) -> float | None:
        """Items a second that one worker does, or an upper bound of it; None: not known yet."""
        return (self._done or 1.0) / self._worker_s if self._worker_s else None

    @property
    def is_bound(self) -> bool:
        """Whether the rate is only an upper bound: nothing was done yet, so it assumes that one item is done now."""
        return not self._done

    def observe(self, work: WorkerLoad) -> float | None:
        last, self._last = self._last, work
        if last is None or work.at <= last.at:
            return self.rate
        done = work.done - last.done
        if not last.up:
            self._warm = done > 0
            return self.rate
        if self._warm:
            faded = 0.5 ** ((work.at - last.at) / _HALF_LIFE_S)
            # An idle worker says nothing about its speed.
            busy = min(last.up, last.items)
            if busy or done:
                self._done = self._done * faded + done
                self._worker_s = self._worker_s * faded + max(busy, 1) * (work.at - last.at)
        self._warm = self._warm or done > 0
        return self.rate
