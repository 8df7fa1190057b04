"""The most attempts of a run that were in flight at once, from when they really started and ended."""

from collections.abc import Iterable

from manyhands.core.state import Record


def peaks(records: Iterable[Record], since: float = 0.0) -> dict[str, int]:
    """Host → its peak, of the attempts started from `since` on."""
    starts: dict[str, list[float]] = {}
    ends: dict[str, list[float]] = {}
    for record in records:
        for tried in record.history or ():
            if tried.started_at >= since:
                starts.setdefault(tried.host, []).append(tried.started_at)
                if tried.ended_at is not None:
                    ends.setdefault(tried.host, []).append(tried.ended_at)
    return {host: _peak(sorted(starts[host]), sorted(ends.get(host, ()))) for host in sorted(starts)}


def peak_of_all(records: Iterable[Record]) -> int:
    """On all hosts together."""
    tried = [one for record in records for one in record.history or ()]
    return _peak(
        sorted(one.started_at for one in tried), sorted(one.ended_at for one in tried if one.ended_at is not None)
    )


def _peak(starts: list[float], ends: list[float]) -> int:
    peak = ended = 0
    for started, at in enumerate(starts, 1):
        # What ends at the instant another starts has made room for it.
        while ended < len(ends) and ends[ended] <= at:
            ended += 1
        peak = max(peak, started - ended)
    return peak
