"""Whose turn it is: start-time fair queueing, by weight and by what was really used.

Each flow's work is laid end to end on a virtual clock that runs slower for heavier flows; what starts first there goes
first. A flow that was idle gets no credit for it, one that floods only delays itself.
"""

from collections.abc import Hashable

#: Above this many, flows that the clock has overtaken are forgotten: they would begin at the clock anyway.
FLOWS_MAX = 1024


class FairClock:
    def __init__(self) -> None:
        self.now = 0.0
        self._ends: dict[Hashable, float] = {}
        self._flows_max = FLOWS_MAX

    def place(self, flow: Hashable, work: float, weight: float) -> float:
        """Where the next work of this flow starts."""
        start = self._ends.get(flow, self.now)
        if start < self.now:
            start = self.now
        self._ends[flow] = start + work / weight
        if len(self._ends) > self._flows_max:
            self._ends = {flow: end for flow, end in self._ends.items() if end > self.now}
            self._flows_max = max(FLOWS_MAX, 2 * len(self._ends))
        return start

    def advance(self, start: float) -> None:
        """Work that was placed there is being done."""
        self.now = max(self.now, start)
