"""Which host a task goes to: the one where it should finish soonest, including the wait for a slot."""

import math
from collections.abc import Iterable
from fnmatch import fnmatchcase

from manyhands.core.scarce_hosts import NO_OTHERS, OtherNeeds
from manyhands.core.state import HostState
from manyhands.core.values.host import Host

#: Future slots that are considered on one host. If more tasks wait than that, no free slot is left empty.
SLOTS_MAX = 256


def matches(kind: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(kind, pattern) for pattern in patterns)


def takes(host: Host, kind: str, form: str, wanted: str = "") -> bool:
    """Whether a host takes tasks of this kind and form. `wanted` is the host that a task names, if it names one."""
    if wanted and host.name != wanted:
        return False
    return form in host.takes and matches(kind, host.kinds)


class HostChoice:
    """The result: a host to start on, or how long it is worth waiting for a better one."""

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
    behind: int = 0,
    others: OtherNeeds = NO_OTHERS,
) -> HostChoice:
    """The host where the task should finish soonest, among hosts with room (`free`) and hosts without (`busy`).

    `waiting` counts the tasks that already wait for a busy host in this round: each takes one of its next slots.
    Time that the task has waited (since `waits_since`) lowers the gain of waiting longer, so its wait always ends.
    `behind` equal tasks come after this one. If waiting does not pay for the last of them, it takes the free slot now.
    An unknown duration counts as the best known one, so that every host is tried.
    Where other tasks need the last slots of a host, a task counts twice: it keeps one waiting. Among equal hosts it
    goes to the one that the fewest `others` could use.
    """
    if regular := [host for host in free if not host.host.fallback]:
        free = regular
    else:
        busy = []  # fallback hosts take a task only if no other host has room
    if len(free) == 1 and not busy:
        return HostChoice(free[0])
    usual_s = _usual_times(kind, (*free, *busy))

    def weight(host: HostState) -> tuple[float, bool, float, int]:
        is_needed = host.name in others.last_slots
        emptiness = -(host.width - len(host.running)) / host.width
        return usual_s[host.name] * (1 + is_needed), is_needed, emptiness, others.wanted.get(host.name, 0)

    chosen = min(free, key=weight)
    if behind >= SLOTS_MAX * len(busy):
        return HostChoice(chosen)
    waited_s = 0.0 if waits_since is None else at - waits_since
    better = _soonest_slot(busy, usual_s, usual_s[chosen.name] - waited_s, at, waiting, behind)
    if better is None:
        return HostChoice(chosen)
    host, in_s = better
    waiting[host.name] = waiting.get(host.name, 0) + 1
    return HostChoice(None, in_s)


def _usual_times(kind: str, hosts: Iterable[HostState]) -> dict[str, float]:
    """Host → how long the kind takes there. An unknown duration counts as the best known one."""
    usual_s = {host.name: host.usual_s(kind) for host in hosts}
    best_known = min((known for known in usual_s.values() if known is not None), default=0.0)
    return {name: best_known if known is None else known for name, known in usual_s.items()}


def _soonest_slot(
    busy: list[HostState], usual_s: dict[str, float], now_s: float, at: float, waiting: dict[str, int], behind: int
) -> tuple[HostState, float] | None:
    """The busy host worth waiting for, and for how long. A task that starts now takes `now_s`."""
    best: HostState | None = None
    best_in_s = math.inf
    for host in busy:
        gain_s = now_s - usual_s[host.name]
        # Finding the next slots means a look at everything that runs there, so it happens only if there is a gain.
        # It is not known when an agent comes for the next task of a host with leases.
        if gain_s <= 0.0 or host.host.lease_s is not None:
            continue
        slots = _slots_within(host, at, gain_s, usual_s[host.name])
        waiting_there = waiting.get(host.name, 0)
        behind -= max(0, len(slots) - waiting_there)
        if waiting_there < len(slots) and slots[waiting_there] < best_in_s:
            best, best_in_s = host, slots[waiting_there]
    return None if best is None or behind >= 0 else (best, best_in_s)


def _slots_within(host: HostState, at: float, seconds: float, usual_s: float) -> list[float]:
    """In how many seconds the host should have free slots, soonest first, if each is taken again for the usual time."""
    slots: list[float] = []
    for running in host.running.values():
        usual = host.usual_s(running.record.task.kind)
        if usual is None:
            return []
        elapsed = at - running.started_at
        # Overdue work has no known end: the longer it has taken, the longer it is expected to continue.
        in_s = usual - elapsed if elapsed < usual else elapsed
        while in_s < seconds and len(slots) < SLOTS_MAX:
            slots.append(in_s)
            in_s += max(usual_s, seconds / SLOTS_MAX)
    return sorted(slots)
