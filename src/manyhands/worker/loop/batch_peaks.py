"""Decides which batches are measured for the memory they take, and measures them.

Freed memory stays with the process, and a batch that reuses it would seem to take none. So it is handed back to the
system first. The batch must then fetch its pages again, so only the first batches of a model and a sample of the later
ones are measured.
"""

from collections import defaultdict

from manyhands.worker.backends.backend import Loaded
from manyhands.worker.devices.peak_meter import PeakMeter
from manyhands.worker.loop.computing import trim

FIRST_BATCHES = 40
THEN_ONE_IN = 32


class Peaks:
    def __init__(self) -> None:
        self._seen: dict[str, int] = defaultdict(int)
        self._meter = PeakMeter()
        self._measuring = False

    def wants(self, model: str) -> bool:
        """Whether to measure the next batch. It is called for every batch that starts alone.

        Only one batch is measured at a time.
        """
        self._seen[model] += 1
        count = self._seen[model]
        return not self._measuring and (count <= FIRST_BATCHES or count % THEN_ONE_IN == 0)

    def begin(self, model: Loaded) -> bool:
        """Start a measurement and return whether that worked.

        If unused memory cannot be handed back, the batch would reuse it and seem to need less than it does.
        """
        try:
            model.give_back()
        except Exception:  # handing back may itself need a little memory
            return False
        trim()
        self._measuring = True
        self._meter.begin()
        return True

    def end(self) -> int | None:
        self._measuring = False
        return self._meter.peak_bytes()
