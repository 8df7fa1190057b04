"""Which batches are measured for the memory they take, and how.

Freed memory stays with the process, so a batch that reuses it would seem to take none: it is handed back first. That
costs the batch its pages, so only the first batches of a model and a sample of the later ones are measured.
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
        """Told of every batch that begins alone; one is measured at a time."""
        self._seen[model] += 1
        count = self._seen[model]
        return not self._measuring and (count <= FIRST_BATCHES or count % THEN_ONE_IN == 0)

    def begin(self, model: Loaded) -> bool:
        """Whether it can be measured: what cannot be handed back would be taken for no need."""
        try:
            model.give_back()
        except Exception:  # it may need a little memory itself
            return False
        trim()
        self._measuring = True
        self._meter.begin()
        return True

    def end(self) -> int | None:
        self._measuring = False
        return self._meter.peak_bytes()
