"""What probes saw of the hosts, thinned for charts: memory, the server's queue, and what a limit leaves."""

from msgspec.structs import asdict

from manyhands.core.events import HostRead
from manyhands.surfaces.api.picture.picture_rows import Row

#: A probe reads about once a second. A chart of hours needs far less.
EVERY_S = 5.0
KEPT_MAX = 4_000
#: The fields of a reading that a page shows.
_SHOWN = (
    "memory_used_bytes",
    "memory_total_bytes",
    "waiting",
    "kv_use",
    "requests_left",
    "requests_per_minute",
    "tokens_left",
    "tokens_per_minute",
)


class Gauges:
    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._told_at: dict[str, float] = {}

    def read(self, event: HostRead) -> Row | None:
        """None if it shows nothing, or comes too soon after the one before."""
        if event.reading is None or event.at < self._told_at.get(event.host, -EVERY_S) + EVERY_S:
            return None
        fields = asdict(event.reading)
        seen = {name: fields[name] for name in _SHOWN if fields[name] is not None}
        if not seen:
            return None
        self._told_at[event.host] = event.at
        row = {"host": event.host, "at": event.at, **seen}
        self.rows.append(row)
        if len(self.rows) > KEPT_MAX:
            del self.rows[: KEPT_MAX // 2 : 2]  # the further back, the coarser
        return row
