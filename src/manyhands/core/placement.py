"""Which host a task goes to: where it is expected to finish soonest, waiting for a slot included."""

import math
from fnmatch import fnmatchcase

from manyhands.core.model import Host
from manyhands.core.state import HostState


def takes(host: Host, kind: str, form: str, wanted: str) -> bool:
    """`wanted` names the only host that will do, if the task names one."""
    if wanted and host.name != wanted:
        return False
    return form in host.takes and any(fnmatchcase(kind, pattern) for pattern in host.kinds)


class Choice:
    """The outcome: a host to start on, or how long it is worth waiting for a better one."""

    __slots__ = ("host", "worth_waiting_s")

    def __init__(self, host: HostState | None, worth_waiting_s: float = math.inf) -> None:
        self.host = host
        self.worth_waiting_s = worth_waiting_s


def choose(
    free: list[HostState],
    busy: list[HostState],
    kind: str,
    at: float,
    waiting: dict[str, int],
    waits_since: float | None = None,
) -> Choice:
    """Of the hosts that have room and those that do not, the one with the soonest expected finish.

    `waiting` counts who already waits for a busy host in this round: each takes one of its coming slots.
    What it has waited (since `waits_since`) is no longer to be gained, so nobody waits for ever.
    An unknown duration is taken to be the best known one, so that every host gets its chance.
    """
    regular = [host for host in free if not host.host.fallback]
    if not regular:
        free, busy = free, []  # fallback hosts take what no other has room for
    else:
        free = regular
    if len(free) == 1 and not busy:
        return Choice(free[0])
    known = [usual for host in (*free, *busy) if (usual := host.lane(kind).usual_s) is not None]
    best_known = min(known, default=0.0)

    def usual_s(host: HostState) -> float:
        usual = host.lane(kind).usual_s
        return best_known if usual is None else usual

    def emptiness(host: HostState) -> float:
        return -(host.width - len(host.running)) / host.width

    waited_s = 0.0 if waits_since is None else at - waits_since
    chosen = min(free, key=lambda host: (usual_s(host), emptiness(host)))
    chosen_s = usual_s(chosen) - waited_s
    for host in busy:
        gain_s = chosen_s - usual_s(host)
        # When a slot comes costs a look at all that runs there: only asked where there is something to gain.
        if gain_s > 0.0 and _slot_in_s(host, at, waiting.get(host.name, 0)) < gain_s:
            waiting[host.name] = waiting.get(host.name, 0) + 1
            return Choice(None, _slot_in_s(host, at, waiting[host.name] - 1))
    return Choice(chosen)


def _slot_in_s(host: HostState, at: float, already_waiting: int) -> float:
    """When the host is expected to have a slot for one more than those who already wait."""
    left: list[float] = []
    for running in host.running.values():
        usual = host.lane(running.record.task.kind).usual_s
        if usual is None:
            return math.inf
        elapsed = at - running.started_at
        # Overdue work has no known end: the longer it has taken, the longer it is expected to go on.
        left.append(usual - elapsed if elapsed < usual else elapsed)
    if already_waiting >= len(left):
        return math.inf
    return sorted(left)[already_waiting]
