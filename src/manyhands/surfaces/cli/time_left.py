"""When a run will be finished, from how long its kinds usually take and how many attempts are in flight."""

from collections import deque
from collections.abc import Iterable

from manyhands.core.state import HostState, Run

#: The rate is measured over this long.
RATE_WINDOW_S = 20.0


class FinishRate:
    """How many tasks have ended, as a live picture sees it time after time."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()  # (when, finished by then)

    def rate(self, now: float, finished: int) -> float:
        """Tasks a second, lately."""
        if self._seen and finished < self._seen[-1][1]:  # tasks that had ended were edited or retried
            self._seen.clear()
        self._seen.append((now, finished))
        while self._seen[0][0] < now - RATE_WINDOW_S:
            self._seen.popleft()
        since, before = self._seen[0]
        return (finished - before) / (now - since) if now > since else 0.0


def expected_s(run: Run, hosts: Iterable[HostState], now: float) -> float | None:
    """The slowest group of kinds that share hosts decides. None while a kind is unknown or has nothing in flight.

    It looks at hosts, lanes and attempts in flight, never at all tasks, because it is called several times a second.
    """
    hosts = list(hosts)
    usual_s = _usual(hosts)
    left = {kind: n for kind, n in run.left_of_kind.items() if n}
    if not left or any(kind not in usual_s for kind in left):
        return None
    work_s = {kind: n * usual_s[kind] for kind, n in left.items()}
    for host in hosts:
        for one in host.running.values():
            kind = one.record.task.kind
            if one.record.run == run.name:
                # An attempt that takes longer than usual counts as nearly finished.
                work_s[kind] -= min(now - one.started_at, usual_s[kind])
    slowest_s = 0.0
    for kinds, in_flight in _sharing(hosts, left):
        if not in_flight:
            return None
        slowest_s = max(slowest_s, sum(work_s[kind] for kind in kinds) / in_flight)
    return slowest_s


def _usual(hosts: Iterable[HostState]) -> dict[str, float]:
    """Kind → seconds: the mean over the hosts that have run it."""
    known: dict[str, list[float]] = {}
    for host in hosts:
        for kind, lane in host.lanes.items():
            if lane.usual_s is not None:
                known.setdefault(kind, []).append(lane.usual_s)
    return {kind: sum(seconds) / len(seconds) for kind, seconds in known.items()}


def _sharing(hosts: Iterable[HostState], left: Iterable[str]) -> list[tuple[set[str], int]]:
    """Groups of kinds that wait for each other's slots on the same hosts, each with its number in flight."""
    groups: list[tuple[set[str], int]] = [({kind}, 0) for kind in left]
    for host in hosts:
        here = {kind for kind, lane in host.lanes.items() if lane.in_flight}
        touched = [group for group in groups if group[0] & here]
        if touched:
            merged = set().union(*(kinds for kinds, _ in touched))
            in_flight = sum(n for _, n in touched) + sum(host.lanes[kind].in_flight for kind in here & merged)
            groups = [group for group in groups if group not in touched] + [(merged, in_flight)]
    return groups
