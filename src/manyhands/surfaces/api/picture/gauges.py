"""What probes saw of the hosts, thinned for charts: memory, the server's queue, and what a limit leaves."""

from msgspec.structs import asdict

from manyhands.core.events import HostRead
from manyhands.surfaces.api.picture.picture_rows import PictureRow

#: A probe reads about once a second. A chart of hours needs far less, but that of a short run should not be a dot.
EVERY_S = 5.0
AT_FIRST_EVERY_S = 1.0
AT_FIRST_READINGS = 60
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
        self.rows: list[PictureRow] = []
        self._told_at: dict[str, float] = {}
        self._told: dict[str, int] = {}

    def read(self, event: HostRead) -> PictureRow | None:
        """None if it shows nothing, or comes too soon after the one before."""
        told = self._told.get(event.host, 0)
        every_s = AT_FIRST_EVERY_S if told < AT_FIRST_READINGS else EVERY_S
        if event.reading is None or event.at < self._told_at.get(event.host, -every_s) + every_s:
            return None
        fields = asdict(event.reading)
        seen = {name: fields[name] for name in _SHOWN if fields[name] is not None}
        if not seen:
            return None
        self._told_at[event.host] = event.at
        self._told[event.host] = told + 1
        row = {"host": event.host, "at": event.at, **seen}
        self.rows.append(row)
        if len(self.rows) > KEPT_MAX:
            del self.rows[: KEPT_MAX // 2 : 2]  # the further back, the coarser
        return row
