"""A recording as a log with lanes: one line of JSON for each thing that happened, with the host and slot it was in."""

from collections.abc import Iterator
from typing import Any

Line = dict[str, Any]
#: What a start and the end that follows it have in common.
_WHERE = ("host", "slot", "kind", "task", "attempt", "number")


def lane_log(recording: dict[str, Any]) -> Iterator[Line]:
    """In order of time, as far as the frames are."""
    run = recording["run"]
    started: dict[int, Line] = {}
    states: dict[str, str] = {}
    for frame in recording["frames"]:
        for change in frame["changes"]:
            line = _line(change, frame["at"], run, started, states)
            if line is not None:
                yield line


def _line(change: Line, at: float, run: str, started: dict[int, Line], states: dict[str, str]) -> Line | None:
    match change["t"]:
        case "start" if change["run"] == run:
            started[change["attempt"]] = change
            waited_s = round(change["at"] - change["queued_at"], 3)
            return {"at": change["at"], "what": "start", **_where(change), "waited_s": waited_s}
        case "end" if change["attempt"] in started:
            start = started.pop(change["attempt"])
            told = {name: change[name] for name in ("ending", "detail", "tokens_in", "tokens_out", "cost")}
            took_s = round(change["at"] - start["at"], 3)
            return {"at": change["at"], "what": "end", **_where(start), "took_s": took_s, **told}
        case "width":
            lane = f"{change['host']}/{change['kind']}" if change["kind"] else change["host"]
            told = {name: change[name] for name in ("host", "kind", "was", "width", "reason")}
            return {"at": change["at"], "what": "width", "lane": lane, **told}
        case "task" if change["run"] == run and states.get(change["task"]) != change["state"]:
            states[change["task"]] = change["state"]
            told = {"task": change["task"], "state": change["state"], "cause": change["cause"]}
            return {"at": at, "what": "task", "lane": "", **told}
        case _:
            return None


def _where(start: Line) -> Line:
    return {"lane": f"{start['host']}/{start['slot'] + 1}", **{name: start[name] for name in _WHERE}}
