"""Which models make room for another: those least recently useful for their size, and only if room is really made."""

from collections.abc import Sequence

from msgspec import Struct

#: How long work that was done counts half.
HALF_LIFE_S = 60.0
#: A model stays at least this long, and ten times as long as loading it took: the device is to compute, not to load.
RESIDENCY_MIN_S = 5.0
LOADS_PER_RESIDENCY = 10.0
#: After this long without work a model makes room for less important ones too.
IDLE_S = 60.0


class Resident(Struct, frozen=True):
    model: str
    bytes: int
    loaded_at: float
    load_s: float
    used_at: float
    useful_s: float  # work done, as of `used_at`, older work counting less
    waiting_s: float = 0.0  # work that waits for it
    priority: int = 2
    pinned: bool = False

    @property
    def settled_at(self) -> float:
        return self.loaded_at + max(RESIDENCY_MIN_S, LOADS_PER_RESIDENCY * self.load_s)

    def worth(self, at: float) -> float:
        """Per byte."""
        return (faded(self.useful_s, at - self.used_at) + self.waiting_s) / max(1, self.bytes)


class Evictions(Struct, frozen=True):
    models: tuple[str, ...] = ()  # empty: none, for they would not make enough room
    again_at: float | None = None  # when more of them may go; None: time alone changes nothing


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
        if made - one.bytes >= wanted_bytes:  # a larger one that came later made it needless
            chosen.remove(one)
            made -= one.bytes
    return Evictions(tuple(one.model for one in chosen), None)


def makes_way(one: Resident, priority: int, at: float) -> bool:
    return one.priority >= priority or (one.waiting_s == 0 and at - one.used_at >= IDLE_S)
