"""What happens now, and since the sample before: small enough to keep one every few seconds for weeks."""

from collections.abc import Iterable

import msgspec
from msgspec import Struct

#: Two weeks of samples, one every ten seconds, take about 30 MB. Older ones are deleted.
SAMPLES_KEPT_S = 14 * 24 * 3600.0


class HostSample(Struct, frozen=True, array_like=True):
    """Fields may be added at the end, with a default."""

    width: int
    in_flight: int
    ended: dict[str, int] = {}  # ending → attempts that ended so since the sample before
    tokens_in: int = 0  # of those
    tokens_out: int = 0
    cost: float | None = None  # where known


class RunSample(Struct, frozen=True, array_like=True):
    tasks: dict[str, int]  # state → how many; a state that no task is in is left out
    queue_age_s: float = 0.0


class SeriesSample(Struct, frozen=True, array_like=True):
    at: float
    hosts: dict[str, HostSample]
    runs: dict[str, RunSample]
    commits: int = 0  # since the sample before
    commit_mean_s: float = 0.0
    commit_max_s: float = 0.0


def readable(bodies: Iterable[bytes]) -> list[SeriesSample]:
    """The samples that can be read. A damaged one is left out: it is a point on a chart, and nothing depends on it."""
    found: list[SeriesSample] = []
    for body in bodies:
        try:
            found.append(msgspec.msgpack.decode(body, type=SeriesSample))
        except (msgspec.MsgspecError, TypeError, ValueError, RecursionError):
            continue
    return found
