"""A recording as a Chrome trace: for Perfetto and others that read one."""

from typing import Any

_US = 1e6


def trace_of(recording: dict[str, Any]) -> dict[str, Any]:
    """Hosts are processes, slots threads, attempts slices; widths and attempts in flight are counters."""
    events: list[dict[str, Any]] = []
    started: dict[int, dict[str, Any]] = {}
    place: dict[str, int] = {}

    def pid_of(host: str) -> int:
        if host not in place:
            place[host] = len(place) + 1
            events.append({"ph": "M", "name": "process_name", "pid": place[host], "tid": 0, "args": {"name": host}})
        return place[host]

    for frame in recording["frames"]:
        for change in frame["changes"]:
            match change["t"]:
                case "start" if change["run"] == recording["run"]:
                    started[change["attempt"]] = change
                case "end" if change["attempt"] in started:
                    events.append(_slice(started.pop(change["attempt"]), change, pid_of))
                case "width" if not change["kind"]:
                    pid, ts = pid_of(change["host"]), change["at"] * _US
                    args = {"width": change["width"]}
                    events.append({"ph": "C", "name": "width", "pid": pid, "tid": 0, "ts": ts, "args": args})
    return {"traceEvents": events, "displayTimeUnit": "ms"}


def _slice(start: dict[str, Any], end: dict[str, Any], pid_of: Any) -> dict[str, Any]:
    return {
        "ph": "X",
        "name": start["task"],
        "cat": start["kind"],
        "pid": pid_of(start["host"]),
        "tid": start["slot"] + 1,
        "ts": start["at"] * _US,
        "dur": (end["at"] - start["at"]) * _US,
        "args": {
            "run": start["run"],
            "attempt": f"{start['number']} of {start['of']}",
            "ending": end["ending"],
            "detail": end["detail"],
            "waited_s": start["at"] - start["queued_at"],
        },
    }
