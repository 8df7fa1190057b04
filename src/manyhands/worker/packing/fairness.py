"""Decides whose turn it is by start-time fair queueing, from weights and the work that was really done.

Each flow's work is placed end to end on a virtual clock, and work of heavier flows takes less of that clock. The work
with the earliest start goes first. An idle flow gains no credit, and a flow that floods the queue delays only itself.
"""

from collections.abc import Hashable

#: Above this many flows, those that the clock has passed are forgotten. They would start at the clock anyway.
FLOWS_MAX = 1024


class FairClock:
    def __init__(self) -> None:
        self.now = 0.0
        self._ends: dict[Hashable, float] = {}
        self._flows_max = FLOWS_MAX

    def place(self, flow: Hashable, work: float, weight: float) -> float:
        """Place the flow's next work on the clock and return where it starts."""
        start = self._ends.get(flow, self.now)
        if start < self.now:
            start = self.now
        self._ends[flow] = start + work / weight
        if len(self._ends) > self._flows_max:
            self._ends = {flow: end for flow, end in self._ends.items() if end > self.now}
            self._flows_max = max(FLOWS_MAX, 2 * len(self._ends))
        return start

    def advance(self, start: float) -> None:
        """Move the clock to the start of the work that is being done."""
        self.now = max(self.now, start)
