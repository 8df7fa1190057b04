"""When each session ran, arm by arm, to see whether the arms really took turns."""

from collections.abc import Mapping, Sequence

from manyhands.apps.evals.reports import words
from manyhands.apps.evals.reports.svg import Scale, hint, line, picture, tag, text
from manyhands.apps.evals.spec.eval_types import EvalRecord, SessionRecord, TrialOutcome
from manyhands.quantities import quantity

WIDTH, LEFT, RIGHT, TOP = 760.0, 110.0, 16.0, 10.0
BAND, LANE_MAX, GAP = 46.0, 14.0, 10.0
#: With more the page would be slow, and the bars too thin to see.
SESSIONS_SHOWN = 3_000

TimelineBar = tuple[TrialOutcome, SessionRecord, float, float]


def timeline_plot(record: EvalRecord, colours: Mapping[str, str]) -> tuple[str, str]:
    """The picture, and a note on what it leaves out."""
    bars = [
        (outcome, session, session.started_at, session.ended_at)
        for outcome in record.outcomes
        for session in outcome.sessions
        if session.started_at is not None and session.ended_at is not None
    ]
    if not bars:
        return "", "The record does not say when the sessions ran."
    bars.sort(key=lambda bar: (bar[2], bar[0].key))
    note = f"The first {SESSIONS_SHOWN:,} of {len(bars):,} sessions." if len(bars) > SESSIONS_SHOWN else ""
    bars = bars[:SESSIONS_SHOWN]
    begins, ends = bars[0][2], max(bar[3] for bar in bars)
    scale = Scale(0.0, max(ends - begins, 1e-3), LEFT, WIDTH - RIGHT)
    arms = [arm.name for arm in record.spec.arms]
    bottom = TOP + len(arms) * (BAND + GAP)
    parts = []
    for value in scale.ticks(8):
        parts.append(line(scale.at(value), TOP, scale.at(value), bottom, "grid"))
        parts.append(text(words.seconds(value) if value else "0", scale.at(value), bottom + 15, "tick", "middle"))
    for place, arm in enumerate(arms):
        top = TOP + place * (BAND + GAP) + GAP / 2
        parts.append(text(arm if len(arm) <= 15 else arm[:14] + "…", LEFT - 12, top + BAND / 2 + 4, "name", "end"))
        parts += _band([bar for bar in bars if bar[0].arm == arm], begins, scale, top, colours[arm])
    return picture(WIDTH, bottom + 22, "When each session ran, by arm", *parts), note


def lanes_of(bars: Sequence[TimelineBar]) -> list[int]:
    """Puts each bar into the first lane that is free. The bars are in the order of their starts."""
    free_from: list[float] = []
    lanes = []
    for _, _, started, ended in bars:
        lane = next((place for place, until in enumerate(free_from) if until <= started), len(free_from))
        if lane == len(free_from):
            free_from.append(ended)
        free_from[lane] = ended
        lanes.append(lane)
    return lanes


def _band(bars: Sequence[TimelineBar], begins: float, scale: Scale, top: float, colour: str) -> list[str]:
    lanes = lanes_of(bars)
    many = max(lanes, default=0) + 1
    lane_height = min(LANE_MAX, BAND / many)
    above = top + (BAND - lane_height * many) / 2
    parts = [line(LEFT, top + BAND, WIDTH - RIGHT, top + BAND, "axis")]
    for (outcome, session, started, ended), lane in zip(bars, lanes, strict=True):
        x, until = scale.at(started - begins), scale.at(ended - begins)
        y, height = above + lane * lane_height, lane_height - min(2.0, lane_height * 0.2)
        bad = session.ending != "done"
        state = "bar tainted" if outcome.tainted else "bar"
        box = tag(
            "rect",
            x=x,
            y=y,
            width=max(0.8, until - x - 0.4),
            height=height,
            rx=min(2.0, height / 4),
            class_=state,
            style=colour,
        )
        troubled = session.attempts > 1
        middle = (x + until) / 2
        cross = text("×" if bad else "↻", middle, y + height / 2 + 4, "sign", "middle") if bad or troubled else ""
        parts.append(tag("g", hint(_said(outcome, session, ended - started)), box, cross))
    return parts


def _said(outcome: TrialOutcome, session: SessionRecord, took: float) -> str:
    parts = [
        f"{outcome.arm}, {outcome.case}, replication {outcome.replication}",
        f"session {session.session}: {session.ending}",
    ]
    parts.append(words.seconds(took))
    if session.attempts > 1:
        parts.append(quantity(session.attempts, "attempt"))
    if outcome.tainted:
        parts.append(f"tainted: {outcome.why_tainted}")
    return " · ".join(parts)
