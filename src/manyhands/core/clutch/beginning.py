"""Where a host begins: what is known about it, how far that is trusted, and the reason for people."""

from msgspec import Struct

from manyhands.core.clutch.launch import WIDTH_FIRST, Launch
from manyhands.core.clutch.ramp import Ramp
from manyhands.core.clutch.turns import USUAL_SEEN_MAX, UsualWork
from manyhands.core.values.host_memory import HostMemory

#: A remembered width is nearly right, so the first steps from it are small and little is expected of them.
REMEMBERED_GROWTH, REMEMBERED_PAYS, REMEMBERED_SPREAD = 1.3, 0.3, 0.35

#: Of the width of another host with the same model, this share is the beginning. The start continues from there.
ALIKE = 0.5


class Beginning(Struct, frozen=True):
    width: float
    why: str
    launch: Launch
    ramp: Ramp


def beginning(start: int | None, memory: HostMemory | None, nature: str, streams: bool) -> Beginning:
    launch = Launch(nature, streams)
    if memory is None:
        why = "where a new host begins" if start is None else f"it starts at {start}"
        return Beginning(float(start or WIDTH_FIRST), why, launch, Ramp())
    if memory.of:
        half = max(float(WIDTH_FIRST), ALIKE * memory.width)
        return Beginning(
            half, f"half of the {memory.width:.0f} that {memory.of} bears with the same model", launch, Ramp()
        )
    if memory.cores_each:
        launch.cores_each, launch.looks = memory.cores_each, 1
    if memory.is_open:
        # A run of one task had only 1 in flight. The next run begins no lower than on a new host.
        cold = float(start or WIDTH_FIRST)
        if memory.width < cold:
            why = f"an earlier run had only {memory.width:.0f} in flight, and no trouble"
            return Beginning(cold, why, launch, Ramp())
        launch.borne = int(memory.width)
        why = f"an earlier run had {memory.width:.0f} in flight and was still growing"
        return Beginning(memory.width, why, launch, Ramp())
    launch.is_on = False
    ramp = Ramp(REMEMBERED_GROWTH, REMEMBERED_PAYS, REMEMBERED_SPREAD)
    return Beginning(memory.width, f"an earlier run settled at {memory.width:.0f}", launch, ramp)


def usual_work(memory: HostMemory | None) -> dict[str, UsualWork]:
    """Kind → its usual work, as an earlier run measured it."""
    kinds = {} if memory is None else memory.kinds
    return {name: UsualWork(USUAL_SEEN_MAX, kind.work) for name, kind in kinds.items() if kind.seen}
