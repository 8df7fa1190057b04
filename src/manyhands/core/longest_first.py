"""Near the end of a backlog the longest expected tasks start first, so that none of them runs on alone.

Before that, tasks start in the order of the plan: no order is faster while there is enough to do.
"""

from manyhands.core.ready import Pool
from manyhands.core.state import HostState, Run

#: The end begins when what is left would take this many times the longest task, with every slot in use.
END_TIMES = 2.0
#: With more tasks waiting for each slot than this, the end is far whatever the tasks take.
FAR = 64
#: Of many hosts only so many are asked how long a kind takes.
ASKED_MAX = 64


class LongestFirst:
    """The expected durations of kinds in one round of starts. What was looked up once is kept for the round."""

    def __init__(self) -> None:
        self._by_run: dict[str, dict[str, float]] = {}

    def expected_s(self, pool: Pool, pools: list[Pool]) -> float:
        """How long a task of the pool is expected to take; 0 as long as the order of the plan is kept."""
        run = pool.run
        expected = self._by_run.get(run.name)
        if expected is None:
            expected = self._by_run[run.name] = _at_the_end(run, [each for each in pools if each.run is run])
        return expected.get(pool.kind, 0.0)


def _at_the_end(run: Run, pools: list[Pool]) -> dict[str, float]:
    """Kind → expected seconds. Empty: the end is far, or the kinds are not known to differ."""
    if len(pools) < 2 or run.concurrency == 1:  # one at a time, no order is faster than another
        return {}
    if run.unfinished > FAR * max(run.in_flight, FAR):
        return {}
    known = {pool.kind: seconds for pool in pools if (seconds := _usual_s(pool)) is not None}
    if not known:
        return {}
    longest_s = max(known.values())
    asked = {host.name: host for pool in pools for host in pool.hosts[:ASKED_MAX]}
    slots = max(run.in_flight, sum(host.width for host in asked.values()))
    left_s = sum(n * known.get(kind, longest_s) for kind, n in run.left_of_kind.items())
    if left_s > END_TIMES * longest_s * slots:
        return {}
    return {pool.kind: known.get(pool.kind, longest_s) for pool in pools}


def _usual_s(pool: Pool) -> float | None:
    asked = pool.hosts[:ASKED_MAX]
    return min((seconds for host in asked if (seconds := _on(host, pool.kind)) is not None), default=None)


def _on(host: HostState, kind: str) -> float | None:
    usual_s = host.usual_s(kind)
    if usual_s is not None or host.difficulty is None:
        return usual_s
    remembered = host.difficulty.kinds.get(kind)
    return remembered.took_s if remembered is not None and remembered.took_s else None
