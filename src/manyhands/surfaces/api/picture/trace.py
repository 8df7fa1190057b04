"""A recording as a Chrome trace: for Perfetto and others that read one.

Hosts are processes and their slots are threads, so that Perfetto shows the lanes. Widths, attempts in flight and claims
are counters above them.
"""

from typing import Any

_US = 1e6
_CLAIMS = 1_000_000  # the process of the claims: after all hosts


class _Trace:
    def __init__(self, run: str) -> None:
        self.events: list[dict[str, Any]] = []
        self._run = run
        self._place: dict[str, int] = {}
        self._slots: set[tuple[str, int]] = set()
        self._started: dict[int, dict[str, Any]] = {}
        self._busy: dict[str, int] = {}
        self._held: set[str] = set()

    def add(self, change: dict[str, Any], at: float) -> None:
        match change["t"]:
            case "start" if change["run"] == self._run:
                self._started[change["attempt"]] = change
                self._in_flight(change["host"], change["at"], 1)
            case "end" if change["attempt"] in self._started:
                start = self._started.pop(change["attempt"])
                self._slice(start, change["at"], {"ending": change["ending"], "detail": change["detail"]})
                self._in_flight(start["host"], change["at"], -1)
            case "host":
                self._count(self._pid(change["host"]), "width", at, {"width": change["width"]})
            case "width":
                name = f"width of {change['kind']}" if change["kind"] else "width"
                self._count(self._pid(change["host"]), name, change["at"], {"width": change["width"]})
                self._mark(change)
            case "claims":
                self._claims(change["claims"], at)

    def close(self, at: float) -> None:
        """Attempts that still run reach to the end of the recording."""
        for start in self._started.values():
            self._slice(start, at, {"ending": "running", "detail": ""})

    def _pid(self, host: str) -> int:
        if host not in self._place:
            self._place[host] = len(self._place) + 1
            self._name("process_name", self._place[host], 0, host)
        return self._place[host]

    def _tid(self, host: str, slot: int) -> int:
        if (host, slot) not in self._slots:
            self._slots.add((host, slot))
            self._name("thread_name", self._pid(host), slot + 1, f"slot {slot + 1}")
        return slot + 1

    def _name(self, what: str, pid: int, tid: int, name: str) -> None:
        self.events.append({"ph": "M", "name": what, "pid": pid, "tid": tid, "args": {"name": name}})

    def _count(self, pid: int, name: str, at: float, args: dict[str, float]) -> None:
        self.events.append({"ph": "C", "name": name, "pid": pid, "tid": 0, "ts": at * _US, "args": args})

    def _in_flight(self, host: str, at: float, by: int) -> None:
        self._busy[host] = self._busy.get(host, 0) + by
        self._count(self._pid(host), "in flight", at, {"attempts": self._busy[host]})

    def _mark(self, move: dict[str, Any]) -> None:
        """The reason of a move, as a mark on its host."""
        what = f"{move['kind']} " if move["kind"] else ""
        name = f"{what}{move['was']} → {move['width']}: {move['reason']}"
        pid = self._pid(move["host"])
        self.events.append({"ph": "i", "s": "p", "name": name, "pid": pid, "tid": 0, "ts": move["at"] * _US})

    def _claims(self, claims: list[dict[str, Any]], at: float) -> None:
        if not self._held and claims:
            self._name("process_name", _CLAIMS, 0, "claims")
        now = {f"{row['mode']} {row['claim']}": row for row in claims}
        for name, row in now.items():
            self._count(_CLAIMS, name, at, {"held": len(row["holders"]), "waiting": row["waiting"]})
        for name in sorted(self._held - now.keys()):
            self._count(_CLAIMS, name, at, {"held": 0, "waiting": 0})
        self._held = set(now)

    def _slice(self, start: dict[str, Any], ended_at: float, end: dict[str, Any]) -> None:
        self.events.append(
            {
                "ph": "X",
                "name": start["task"],
                "cat": start["kind"],
                "pid": self._pid(start["host"]),
                "tid": self._tid(start["host"], start["slot"]),
                "ts": start["at"] * _US,
                "dur": (ended_at - start["at"]) * _US,
                "args": {
                    "run": start["run"],
                    "attempt": f"{start['number']} of {start['of']}",
                    "waited_s": start["at"] - start["queued_at"],
                    **end,
                },
            }
        )


def trace_of(recording: dict[str, Any]) -> dict[str, Any]:
    trace = _Trace(recording["run"])
    last = recording["snapshot"]["at"]
    for host in recording["snapshot"]["hosts"]:
        trace.add({"t": "host", **host}, last)
    for frame in recording["frames"]:
        last = max(last, frame["at"])
        for change in frame["changes"]:
            trace.add(change, frame["at"])
    trace.close(last)
    return {"traceEvents": trace.events, "displayTimeUnit": "ms"}
