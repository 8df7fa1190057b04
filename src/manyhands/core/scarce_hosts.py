"""Which free hosts other waiting tasks need, because nothing else that is free can take them."""

from collections.abc import Sequence

from manyhands.core.ready import Pool
from manyhands.core.state import HostState


def needed_elsewhere(pool: Pool, free: Sequence[HostState], waiting: Sequence[Pool]) -> set[str]:
    """The hosts of `free` whose last slots tasks of other pools need. `pool` is the one that has the choice."""
    needed: set[str] = set()
    for other in waiting:
        # A pool that every host of this one takes has as much choice, so it needs no host in particular.
        if other is pool or len(other.hosts) >= len(pool.hosts) or other.run.draining or other.held_by is not None:
            continue
        takers = [host for host in free if host.name in other.places]
        if len(takers) == 1 and _fills(takers[0], other):
            needed.add(takers[0].name)
    return needed


def _fills(host: HostState, pool: Pool) -> bool:
    """Whether the tasks of the pool can take all the slots that are free there. Counted only as far as needed."""
    room = host.width - len(host.running)
    for _, _, group in pool.heap:
        room -= len(group.queue) if group.order is not None else 0
        if room <= 0:
            return True
    return False
