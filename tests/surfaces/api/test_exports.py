"""A recording told for other programs: as a Chrome trace for Perfetto, and as a log with lanes."""

from typing import Any

from helpers import Player, a_host, a_task, writes
from manyhands.core import events as ev
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.widths import Reading
from manyhands.surfaces.api.picture.gauges import AT_FIRST_READINGS, EVERY_S
from manyhands.surfaces.api.picture.lane_log import lane_log
from manyhands.surfaces.api.picture.picture import Picture
from manyhands.surfaces.api.picture.recording import Recording
from manyhands.surfaces.api.picture.trace import trace_of


def recorded() -> dict[str, Any]:
    """Two at a time; `b` waits for a file of `a`, `c` fails, and `d` still runs."""
    player = Player(a_host(width=2))
    player.open(a_task("a", claims=writes("x.py")), a_task("b", claims=writes("x.py")), a_task("c", attempts=1))
    player.end("c", ending=Ending(EndingKind.FAILED, "exit 3"))
    player.end("a", after_s=2.0)
    player.play(ev.WidthSet(player.at, "local", 1))
    player.end("b")
    player.add(a_task("d"))
    recording = Recording(enumerate(player.journal, 1), "r")
    snapshot = recording.snapshot()
    return {"run": "r", "snapshot": snapshot, "frames": list(recording.frames())}


def test_a_trace_has_the_lanes_and_counts_widths_attempts_and_claims() -> None:
    events = trace_of(recorded())["traceEvents"]
    slices = {event["name"]: event for event in events if event["ph"] == "X"}
    assert {name: event["args"]["ending"] for name, event in slices.items()} == {
        "a": "done",
        "b": "done",
        "c": "failed",
        "d": "running",
    }
    assert {slices["a"]["tid"], slices["c"]["tid"]} == {1, 2}
    assert slices["a"]["dur"] == 3e6
    named = {(event["name"], event["args"]["name"]) for event in events if event["ph"] == "M"}
    assert {("process_name", "local"), ("thread_name", "slot 1"), ("process_name", "claims")} <= named
    counted = {event["name"]: [] for event in events if event["ph"] == "C"}
    for event in events:
        if event["ph"] == "C":
            counted[event["name"]].append(event["args"])
    assert {"width": 2} in counted["width"]
    assert max(count["attempts"] for count in counted["in flight"]) == 2
    assert {"held": 1, "waiting": 1} in counted["write x.py"]
    assert counted["write x.py"][-1] == {"held": 0, "waiting": 0}


def test_a_log_says_in_which_slot_everything_happened() -> None:
    lines = list(lane_log(recorded()))
    told = [(line["what"], line["task"], line["lane"]) for line in lines if line["what"] in ("start", "end")]
    assert told == [
        ("start", "a", "local/1"),
        ("start", "c", "local/2"),
        ("end", "c", "local/2"),
        ("end", "a", "local/1"),
        ("start", "b", "local/1"),
        ("end", "b", "local/1"),
        ("start", "d", "local/1"),
    ]
    ended = next(line for line in lines if line["what"] == "end")
    assert (ended["took_s"], ended["ending"], ended["detail"]) == (1.0, "failed", "exit 3")
    assert [line["state"] for line in lines if line["what"] == "task" and line["task"] == "b"] == [
        "ready",
        "running",
        "done",
    ]
    assert [line["at"] for line in lines] == sorted(line["at"] for line in lines)


def test_readings_of_a_probe_are_told_each_second_at_first_then_less_often_and_to_a_page_that_opens_later() -> None:
    player = Player(a_host())
    picture = Picture(player.book)
    told = []
    first = [float(n) for n in range(AT_FIRST_READINGS)]
    later = first[-1] + EVERY_S
    for at in (*first[:2], 1.5, *first[2:], later - 1, later):
        reading = Reading(at, memory_used_bytes=int(at), memory_total_bytes=100)
        told += [row for row in picture.changes([ev.HostRead(at, "local", reading)]) if row["t"] == "gauge"]
    told += picture.changes([ev.HostRead(later + 9, "local", Reading(later + 9))])  # it saw nothing that a page shows
    assert [(row["at"], row["memory_used_bytes"]) for row in told] == [(at, int(at)) for at in (*first, later)]
    assert [row["at"] for row in picture.snapshot()["gauges"]] == [*first, later]
