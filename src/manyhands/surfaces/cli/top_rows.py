"""The texts of `manyhands top`: the run, a meter for each lane, a card for each attempt, a row for each task."""

from collections.abc import Iterator

from rich.text import Text

from manyhands.core.values.task import TERMINAL, TaskState
from manyhands.surfaces.cli.live_picture import pace
from manyhands.surfaces.cli.printing import counted, duration
from manyhands.surfaces.cli.terminal_text import for_terminal
from manyhands.surfaces.cli.top_source import Card, TopSight
from manyhands.surfaces.verbs.host_verbs import HostRow, LaneRow
from manyhands.surfaces.verbs.task_verbs import TaskRow

METER_CELLS = 16
#: A narrower screen has no room for a bar beside the counts.
BAR_FROM = 100
_COLOURS = {"running": "cyan", "failed": "bold red", "backoff": "yellow", "deferred": "yellow", "done": "green"}


def run_line(sight: TopSight, place: str, cells: int) -> Text:
    run = sight.run
    finished = sum(run.counts.get(str(state), 0) for state in TERMINAL)
    line = Text().append(f"{plain(run.run)} ", "bold")
    if cells >= BAR_FROM:
        width = cells // 5
        done = width * finished // run.total if run.total else 0
        line.append("━" * done, "green")
        line.append("─" * (width - done) + " ", "dim")
    line.append(f"{finished:,} of {run.total:,}")
    if not sight.is_dispatching:
        line.append(" · no dispatcher is running", "red")
    if run.draining:
        line.append(" · paused", "yellow")
    if sight.waits_for_person:
        line.append(f" · {sight.waits_for_person} in the inbox", "yellow")
    ended_first = {name: run.counts.get(name, 0) for name in ("done", "failed")}
    line.append(f" · {counted({**ended_first, **run.counts})}")
    line.append(f"  {plain(place)}", "dim")
    return line


class LaneLine:
    """One row of the table of lanes. A host that has not run anything has one row without a kind."""

    def __init__(self, host: HostRow, lane: LaneRow | None) -> None:
        self.host, self.lane = host, lane
        self.key = f"{host.host}\n{lane.kind if lane else ''}"

    def cells(self) -> tuple[Text | str, ...]:
        lane = self.lane
        usual = duration(lane.usual_s) if lane and lane.usual_s is not None else ""
        rate = pace(lane.in_flight / lane.usual_s) if lane and lane.usual_s and lane.in_flight else ""
        return (plain(self.host.host), plain(lane.kind) if lane else "", self._meter(), usual, rate, self._why())

    def _meter(self) -> Text:
        """The clutch meter: how many of the slots that the width allows are in use."""
        lane = self.lane
        width = (lane.width if lane else self.host.width) or 0
        mine = lane.in_flight if lane else 0
        cells = min(METER_CELLS, max(width, mine))
        filled = mine if width <= METER_CELLS else max(1 if mine else 0, METER_CELLS * mine // width)
        meter = Text().append("█" * filled, "yellow" if self.host.paused is not None else "green")
        meter.append("░" * max(0, cells - filled), "dim")
        meter.append(f" {mine} of {width or '?'}")
        return meter

    def _why(self) -> Text:
        if self.host.paused is not None:
            return Text(plain(f"paused: {self.host.paused}"), "yellow")
        pinned = f"pinned at {self.host.pinned}: " if self.host.pinned is not None else ""
        return Text(plain(pinned + self.host.why), "dim")


def lane_lines(sight: TopSight) -> Iterator[LaneLine]:
    for host in sight.hosts:
        used = [lane for lane in host.lanes if lane.peak or lane.in_flight]
        for lane in used:
            yield LaneLine(host, lane)
        if not used:
            yield LaneLine(host, None)


def card_text(card: Card) -> Text:
    text = Text(plain(card.task), "bold cyan", no_wrap=True, overflow="ellipsis")
    text.append(f"\n{plain(card.host)} · {duration(card.for_s)}\n", "not bold default")
    text.append(plain(card.line) or "…", "not bold default" if card.line else "dim")
    return text


def about_task(row: TaskRow | None) -> Text:
    """What the list has no room for, in full."""
    if row is None:
        return Text("no task", "dim")
    text = Text(plain(row.task), "bold")
    for more in (row.title, row.why):
        if more:
            text.append(f" · {plain(more)}", "not bold")
    return text


def task_cells(row: TaskRow) -> tuple[Text | str, ...]:
    state = Text(row.state, _COLOURS.get(row.state, ""))
    took = duration(row.for_s) if row.for_s is not None else ""
    tried = f"{row.attempt}/{row.attempts}" if row.attempt else ""
    why = plain(row.why or row.title)
    return state, plain(row.task), plain(row.kind), plain(row.host or ""), tried, took, why[:200]


def may_be_cancelled(state: str) -> bool:
    return TaskState(state) not in TERMINAL


def plain(text: str) -> str:
    """What a task or a program wrote, on one line, without what a terminal would obey."""
    return for_terminal(" ".join(text.split()))
