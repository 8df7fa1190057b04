"""Chooses the limit of a host, and declares the union of limits that a snapshot decodes."""

from manyhands.core.clutch.clutch import WIDTH_MAX, Clutch
from manyhands.core.clutch.fixed import Fixed
from manyhands.core.values.host import Host, nature_of
from manyhands.core.values.host_memory import HostMemory

#: Decode snapshots with this type: the tag says which limit it was.
AnyLimit = Fixed | Clutch


def limit_for(host: Host, memory: HostMemory | None = None) -> AnyLimit:
    """A pinned width stays pinned. Any other width is found by the clutch, within the bounds.

    A pinned width with a rate budget gets a clutch whose bounds are equal, because its starts are paced.
    """
    width = host.width
    if width.max is not None and width.min == width.max and host.rate is None:
        return Fixed(width.max)
    return Clutch.begin(
        width_min=width.min,
        width_max=width.max if width.max is not None else WIDTH_MAX,
        start=width.start,
        rate=host.rate,
        memory=memory,
        nature=nature_of(host),
        streams=host.streams,
    )
