"""Which faults a story has: all of them, or one sort so often that its faults meet each other."""

from typing import NamedTuple

#: When an ending is told, in seconds after it: mostly once, soon.
TOLD = ((0.0,), (0.0,), (0.05,), (2.0,), (0.0, 0.0), (0.0, 4.0))
TOLD_BADLY = ((9.0,), (30.0,), (0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 4.0), (1.0, 45.0))
DEEDS = ("append", "appended", "start", "release", "stop", "deliver", "snapshot", "reclaim")
#: What goes wrong next, and how likely that is. The rest are wishes of people.
ALL_TROUBLES = {
    "crash": 0.06,
    "death at a deed": 0.14,
    "close": 0.03,
    "disk full": 0.03,
    "clock jump": 0.06,
    "sink": 0.08,
    "probe": 0.06,
    "submission": 0.10,
}


class FaultProfile(NamedTuple):
    troubles: dict[str, float] = ALL_TROUBLES
    every_s: float = 4.0  # between two troubles, on the average
    for_s: float = 60.0  # from then on nothing goes wrong, and all must come to its end
    deeds: tuple[str, ...] = DEEDS  # at which a dispatcher may die
    told: tuple[tuple[float, ...], ...] = TOLD
    write_s: tuple[float, ...] = (0.0, 0.001, 0.02, 0.5)
    jumps_s: tuple[float, ...] = (-1e5, -3.0, 0.0, 3.0, 1e5)
    outages_max: int = 2  # of a host
    flapping: tuple[str, ...] = ("remote",)  # the hosts that have outages
    storms: bool = False  # model calls are refused: too many, or a budget is used up
    has_probes: bool = False


PROFILES = {
    "everything": FaultProfile(for_s=150.0, has_probes=True),
    "crashes": FaultProfile({"crash": 0.1, "death at a deed": 0.6, "submission": 0.15}, every_s=1.5),
    "disk": FaultProfile(
        {"disk full": 0.3, "lost answer": 0.2, "death at a deed": 0.2, "submission": 0.15},
        every_s=2.0,
        deeds=("append", "appended", "snapshot"),
        write_s=(0.0, 0.5, 5.0),
    ),
    "clock": FaultProfile(
        {"clock jump": 0.4, "crash": 0.3, "submission": 0.15},
        every_s=2.0,
        jumps_s=(-1e7, -1e5, -60.0, -1.0, 0.0, 1.0, 60.0, 1e5, 1e7),
    ),
    "hosts": FaultProfile(
        {"crash": 0.05, "submission": 0.2}, outages_max=12, flapping=("shell", "api", "remote", "spare")
    ),
    "endings": FaultProfile({"crash": 0.15, "close": 0.05, "submission": 0.2}, told=TOLD_BADLY),
    "storms": FaultProfile({"crash": 0.05, "submission": 0.3}, storms=True),
    "damage": FaultProfile(
        {"damage": 0.4, "power cut": 0.15, "crash": 0.1, "submission": 0.2}, every_s=2.5, write_s=(0.0, 0.02)
    ),
    "deliveries": FaultProfile({"sink": 0.4, "crash": 0.1, "death at a deed": 0.2}, deeds=("deliver", "appended")),
}
