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

    def place(self, flow: Hashable, work: float, weight: float) -> float:
        """Where the next work of this flow starts."""
        start = max(self.now, self._ends.get(flow, 0.0))
        self._ends[flow] = start + work / weight
        if len(self._ends) > FLOWS_MAX:
            self._ends = {flow: end for flow, end in self._ends.items() if end > self.now}
        return start

    def advance(self, start: float) -> None:
        """Work that was placed there is being done."""
        self.now = max(self.now, start)
