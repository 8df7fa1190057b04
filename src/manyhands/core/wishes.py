"""Which waiting agent gets a task. The one that has waited longest comes first. Nothing here changes state."""

from manyhands.core.placement import matches
from manyhands.core.state import HostState, Record
from manyhands.core.values.lease import PullWish
from manyhands.core.values.provenance import Origin


def is_pulled(host: HostState) -> bool:
    """Do agents come for the tasks of this host, instead of an executor that starts them?"""
    return host.host.lease_s is not None


def wish_for(host: HostState, record: Record) -> PullWish | None:
    if record.task.workspace:
        return None  # a worktree is made, and lands, around an attempt that is started
    return next((wish for wish in host.wishes.values() if _suits(wish, record)), None)


def _suits(wish: PullWish, record: Record) -> bool:
    if wish.task or record.origin is Origin.RESERVED:  # kept for the agent that reserved it
        return (wish.run, wish.task) == (record.run, record.task.id)
    return not wish.kinds or matches(record.task.kind, wish.kinds)
