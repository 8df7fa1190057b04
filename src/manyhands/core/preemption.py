"""Which attempts stop for a critical task that finds no room: as few as possible, and none if that does not help."""

from collections.abc import Iterable

from manyhands.core.obstacles import could_ever_take, is_kept_from
from manyhands.core.ready import Group
from manyhands.core.state import HostState, Running
from manyhands.core.wishes import is_pulled, wish_for


def is_willing(one: Running) -> bool:
    return one.record.task.preemptible and one.record.task.priority > 0


class Outlook:
    """What will be in flight when every attempt that was told to stop has stopped and critical tasks have its room."""

    def __init__(self, running: Iterable[Running]) -> None:
        self._staying = {one.attempt: one for one in running if one.stop_why is None}
        self._coming: list[tuple[str, Group]] = []  # (host, group) of each critical task that will have room

    def victims(self, group: Group, holders: Iterable[int], at: float) -> list[Running] | None:
        """The attempts to stop so that the group's next task can start; None if stopping attempts does not help."""
        holding = [self._staying[attempt] for attempt in dict.fromkeys(holders) if attempt in self._staying]
        if not all(is_willing(one) for one in holding):
            return None
        best: list[Running] | None = None
        best_host = ""
        for host in group.pool.hosts:
            chosen = self._room_on(host, group, holding, at)
            if chosen is not None and (best is None or len(chosen) < len(best)):
                best, best_host = chosen, host.name
        if best is None:
            return None
        for one in best:
            del self._staying[one.attempt]
        self._coming.append((best_host, group))
        return best

    def _room_on(self, host: HostState, group: Group, holding: list[Running], at: float) -> list[Running] | None:
        """`holding` and as many more attempts as necessary, the least urgent and youngest first."""
        if host.paused is not None or is_kept_from(host, group) or not could_ever_take(host, group):
            return None
        if is_pulled(host) and wish_for(host, group.head) is None:
            return None
        if host.limit.start_at(at, group.key.kind)[0] > at:
            return None
        chosen = list(holding)
        while (in_the_way := self._in_the_way(host, group, chosen)) is not None:
            willing = [one for one in in_the_way if is_willing(one)]
            if not willing:
                return None
            chosen.append(max(willing, key=lambda one: (one.record.task.priority, one.started_at, one.attempt)))
        return chosen

    def _in_the_way(self, host: HostState, group: Group, gone: list[Running]) -> list[Running] | None:
        """One of these must stop as well; None if the group has room when `gone` have stopped."""
        stay = [one for one in self._staying.values() if one not in gone]
        here = [one for one in stay if one.host is host]
        coming = [other for name, other in self._coming if name == host.name]
        alone = [one for one in here if one.record.task.barrier]
        if alone or any(other.key.barrier for other in coming):
            return alone
        if group.key.barrier:
            return here if here or coming else None
        in_the_way: list[Running] | None = here if len(here) + len(coming) >= host.width else None
        run, kind = group.pool.run, group.key.kind
        lane = host.lane(kind)
        if lane.width is not None:
            in_lane = [one for one in here if one.record.task.kind == kind]
            if len(in_lane) + sum(1 for other in coming if other.key.kind == kind) >= lane.width:
                in_the_way = in_lane
        if run.concurrency is not None:
            of_run = sum(1 for one in stay if one.record.run == run.name)
            if of_run + sum(1 for _, other in self._coming if other.pool.run is run) >= run.concurrency:
                in_the_way = [one for one in (here if in_the_way is None else in_the_way) if one.record.run == run.name]
        for name, amount in group.key.resources:
            users = [one for one in here if _uses(one, name)]
            used = sum(_uses(one, name) for one in users)
            used += sum(dict(other.key.resources).get(name, 0.0) for other in coming)
            if amount > host.host.resources.get(name, 0.0) - used:
                in_the_way = [one for one in users if in_the_way is None or one in in_the_way]
        return in_the_way


def _uses(one: Running, resource: str) -> float:
    return (one.record.task.resources or {}).get(resource, 0.0)
