"""Chooses which models make room for another: those with the least recent work for their size.

Nothing is evicted unless that makes enough room.
"""

from collections.abc import Sequence

from msgspec import Struct

#: Work that was done counts half after this long.
HALF_LIFE_S = 60.0
#: A model stays at least this long, and ten times as long as its load took. The device must compute, not only load.
RESIDENCY_MIN_S = 5.0
LOADS_PER_RESIDENCY = 10.0
#: After this long without work, a model also makes room for less important ones.
IDLE_S = 60.0


class Resident(Struct, frozen=True):
    model: str
    bytes: int
    loaded_at: float
    load_s: float
    used_at: float
    useful_s: float  # work done up to `used_at`; older work counts less
    waiting_s: float = 0.0  # how long the items that wait for it will take
    priority: int = 2
    pinned: bool = False

    @property
    def settled_at(self) -> float:
        return self.loaded_at + max(RESIDENCY_MIN_S, LOADS_PER_RESIDENCY * self.load_s)

    def worth(self, at: float) -> float:
        """Recent and waiting work per byte."""
        return (faded(self.useful_s, at - self.used_at) + self.waiting_s) / max(1, self.bytes)


class Evictions(Struct, frozen=True):
    models: tuple[str, ...] = ()  # empty: no choice would make enough room
    again_at: float | None = None  # when more models may be evicted; None: waiting alone changes nothing


def faded(useful_s: float, passed_s: float) -> float:
    return float(useful_s * 0.5 ** (passed_s / HALF_LIFE_S))


def plan_evictions(residents: Sequence[Resident], wanted_bytes: int, priority: int, at: float) -> Evictions:
    """The models that make `wanted_bytes` of room for one of this priority."""
    may_go = [one for one in residents if not one.pinned and makes_way(one, priority, at)]
    settled = sorted((one for one in may_go if one.settled_at <= at), key=lambda one: one.worth(at))
    again_at = min((one.settled_at for one in may_go if one.settled_at > at), default=None)
    chosen: list[Resident] = []
    made = 0
    for one in settled:
        if made >= wanted_bytes:
            break
        chosen.append(one)
        made += one.bytes
    if made < wanted_bytes:
        return Evictions((), again_at)
    for one in sorted(chosen, key=lambda one: one.worth(at), reverse=True):
        if made - one.bytes >= wanted_bytes:  # a larger model that was chosen later made it unnecessary
            chosen.remove(one)
            made -= one.bytes
    return Evictions(tuple(one.model for one in chosen), None)


def makes_way(one: Resident, priority: int, at: float) -> bool:
    return one.priority >= priority or (one.waiting_s == 0 and at - one.used_at >= IDLE_S)
