"""What one run teaches the next about a host: its good width, its pace, and what its kinds cost."""

from msgspec import Struct


class KindMemory(Struct, frozen=True, omit_defaults=True):
    """What attempts of one kind usually cost on this host."""

    work: float = 0.0  # usual work: tokens where the host reports them, else seconds
    memory_bytes: float = 0.0  # mean peak
    memory_spread_bytes: float = 0.0  # its standard deviation
    seen: int = 0  # the number of completions behind it
    memory_seen: int = 0


class HostMemory(Struct, frozen=True, omit_defaults=True):
    width: float  # median width of the settled turns
    turns: int  # the number of settled turns behind it; 0: the run ended while it still searched
    log_throughput: float | None = None  # ln of work per second at that width
    is_open: bool = False  # there was no trouble and growth had not stopped: a larger width may be possible
    rate_per_s: float | None = None  # accepted starts per second where the host refused more
    rate_s: float = 0.0  # over how many seconds that rate was measured; 0: it is a guess
    burst: float = 0.0  # starts it took at once above that rate, after a rest
    kinds: dict[str, KindMemory] = {}
    at: float = 0.0
    cores_each: float = 0.0  # how many cores an attempt keeps busy; 0: unknown
    trouble: int = 0  # agents in flight when their account last turned some away; 0: it never did
    model: str = ""  # what the host computed with; "": it was not told
    of: str = ""  # the host that it was learned on, if that is another one with the same model


def merged(earlier: HostMemory | None, latest: HostMemory) -> HostMemory:
    """What the latest run has settled replaces the earlier memory. What it saw too little of stays."""
    if earlier is None or earlier.model != latest.model:
        return latest
    kinds = dict(earlier.kinds)
    for name, kind in latest.kinds.items():
        kinds[name] = _richer(kinds.get(name), kind)
    keeps = earlier if _is_worth_more(earlier, latest) else latest
    rate = latest if latest.rate_per_s is not None else earlier
    return HostMemory(
        width=keeps.width,
        turns=keeps.turns,
        log_throughput=keeps.log_throughput,
        is_open=keeps.is_open,
        rate_per_s=rate.rate_per_s,
        rate_s=rate.rate_s,
        burst=rate.burst or earlier.burst,
        kinds=kinds,
        at=latest.at,
        cores_each=latest.cores_each or earlier.cores_each,
        trouble=latest.trouble or earlier.trouble,
        model=latest.model,
    )


def _is_worth_more(earlier: HostMemory, latest: HostMemory) -> bool:
    """A settled width is worth more than one from mid-search, and of two without trouble the larger is worth more."""
    if earlier.turns and not latest.turns:
        return not (latest.is_open and latest.width > earlier.width)
    return earlier.is_open and latest.is_open and earlier.width > latest.width


def _richer(earlier: KindMemory | None, latest: KindMemory) -> KindMemory:
    if earlier is None:
        return latest
    work = latest if latest.seen >= min(earlier.seen, 12) else earlier
    peak = latest if latest.memory_seen >= min(earlier.memory_seen, 12) else earlier
    return KindMemory(
        work=work.work,
        seen=work.seen,
        memory_bytes=peak.memory_bytes,
        memory_spread_bytes=peak.memory_spread_bytes,
        memory_seen=peak.memory_seen,
    )
