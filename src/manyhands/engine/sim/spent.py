"""Tells where processor time goes, by looking at the stack every few milliseconds."""

import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import FrameType

#: Seconds of processor time between samples.
LOOK_EVERY_S = 0.002
#: (module, function) → the part it belongs to. The innermost function on the stack counts.
Parts = Mapping[tuple[str, str], str]


class Spent:
    """Processor time, in total and by part. `rest` is the time spent in none of the parts."""

    def __init__(self, parts: Parts, rest: str) -> None:
        self.seconds = 0.0
        self._parts = parts
        self._rest = rest
        self._seen: Counter[str] = Counter()

    @contextmanager
    def watched(self) -> Iterator[None]:
        began = time.process_time()
        # Only the main thread receives signals. Elsewhere only the total is known.
        if threading.current_thread() is not threading.main_thread():
            yield
            self.seconds += time.process_time() - began
            return
        before = signal.signal(signal.SIGPROF, self._look)
        signal.setitimer(signal.ITIMER_PROF, LOOK_EVERY_S, LOOK_EVERY_S)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            signal.signal(signal.SIGPROF, before)
            self.seconds += time.process_time() - began

    def by_part(self) -> dict[str, float]:
        """Part → seconds. Empty if there was no sample."""
        looks = self._seen.total()
        names = dict.fromkeys((*self._parts.values(), self._rest))
        return {name: self.seconds * self._seen[name] / looks for name in names} if looks else {}

    def _look(self, _: int, frame: FrameType | None) -> None:
        while frame is not None:
            part = self._parts.get((frame.f_globals.get("__name__", ""), frame.f_code.co_name))
            if part is not None:
                self._seen[part] += 1
                return
            frame = frame.f_back
        self._seen[self._rest] += 1
