"""Which free hosts other waiting tasks need, because nothing else that is free can take them."""

from collections.abc import Sequence
from typing import NamedTuple

from manyhands.core.ready import Pool
from manyhands.core.state import HostState


class OtherNeeds(NamedTuple):
    last_slots: set[str]  # hosts all of whose free slots other tasks need
    wanted: dict[str, int]  # host → how many other pools have enough tasks to fill it


NO_OTHERS = OtherNeeds(set(), {})


def needed_elsewhere(pool: Pool, free: Sequence[HostState], waiting: Sequence[Pool]) -> OtherNeeds:
    """What other pools need of the hosts of `free`. `pool` is the one that has the choice."""
    needs = OtherNeeds(set(), {})
    for other in waiting:
        # A pool that every host of this one takes has as much choice, so it needs no host in particular.
        if other is pool or len(other.hosts) > len(pool.hosts) or other.run.draining or other.held_by is not None:
            continue
        if other.kind == pool.kind and len(other.hosts) == len(pool.hosts):
            continue
        takers = [host for host in free if host.name in other.places]
        for host in takers:
            if _waiting(other) >= host.width - len(host.running):
                needs.wanted[host.name] = needs.wanted.get(host.name, 0) + 1
        if len(takers) == 1 and len(other.hosts) < len(pool.hosts) and _fills(takers[0], other):
            needs.last_slots.add(takers[0].name)
    return needs


def _waiting(pool: Pool) -> int:
    """About how many wait. To count all of them would cost more than the best choice among equals is worth."""
    return len(pool.heap[0][2].queue) + len(pool.heap) - 1 if pool.heap else 0


def _fills(host: HostState, pool: Pool) -> bool:
    """Whether the tasks of the pool can take all the slots that are free there. Counted only as far as needed."""
    room = host.width - len(host.running)
    for _, _, group in pool.heap:
        room -= len(group.queue) if group.order is not None else 0
        if room <= 0:
            return True
    return False
