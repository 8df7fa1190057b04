"""A picture of the lift of every case with its interval, and of the overall lift."""

from manyhands.apps.evals.figures.figure_values import CaseLift, Lift
from manyhands.apps.evals.reports import words
from manyhands.apps.evals.reports.svg import Scale, hint, line, picture, scale_over, tag, text
from manyhands.quantities import quantity

WIDTH, LEFT, RIGHT, TOP = 760.0, 190.0, 90.0, 14.0
ROW, OVERALL_ROW = 18.0, 34.0
#: More could not be read. The JSON report has all of them.
CASES_SHOWN = 60
NAME_CHARACTERS = 26


def lift_plot(lift: Lift, colour: str) -> str:
    """The overall lift, then the cases from the highest lift to the lowest. Zero is marked."""
    if lift.estimate is None:
        return ""
    ordered = sorted(lift.cases, key=lambda case: (-case.lift, case.case))
    if len(ordered) > CASES_SHOWN:
        half = CASES_SHOWN // 2
        ordered = ordered[:half] + ordered[-half:]
    scale = _scale(lift, ordered)
    bottom = TOP + OVERALL_ROW + ROW * len(ordered)
    parts = _axis(scale, bottom)
    parts.append(_overall(lift, scale, colour))
    parts += [_case(case, scale, TOP + OVERALL_ROW + ROW * (place + 0.5)) for place, case in enumerate(ordered)]
    said = f"Lift of {lift.arm} over {lift.baseline} by {lift.scorer}, case by case"
    return picture(WIDTH, bottom + 36, said, *parts)


def left_unshown(lift: Lift) -> str:
    if len(lift.cases) <= CASES_SHOWN:
        return ""
    return f"The {CASES_SHOWN // 2} highest and {CASES_SHOWN // 2} lowest of {len(lift.cases):,} cases."


def _scale(lift: Lift, cases: list[CaseLift]) -> Scale:
    """Chosen by the lifts. The interval of one case can be much wider, and is then cut with an arrow."""
    assert lift.estimate is not None
    seen = [0.0, lift.estimate.mean, *(case.lift for case in cases)]
    for ends in (lift.estimate.interval, lift.bootstrap):
        seen += [] if ends is None else [ends.low, ends.high]
    return scale_over(seen, LEFT, WIDTH - RIGHT, room=0.12)


def _axis(scale: Scale, bottom: float) -> list[str]:
    parts = []
    for value in scale.ticks():
        parts.append(line(scale.at(value), TOP, scale.at(value), bottom, "zero" if value == 0 else "grid"))
        parts.append(text(f"{value:+g}" if value else "0", scale.at(value), bottom + 15, "tick", "middle"))
    parts.append(text("worse ←", scale.at(0) - 8, bottom + 30, "tick", "end"))
    parts.append(text("→ better", scale.at(0) + 8, bottom + 30, "tick"))
    return parts


def _overall(lift: Lift, scale: Scale, colour: str) -> str:
    estimate = lift.estimate
    assert estimate is not None
    y = TOP + OVERALL_ROW / 2 - 3
    parts = [text("all cases", LEFT - 12, y + 4, "name strong", "end")]
    if lift.bootstrap is not None:
        parts.append(line(scale.at(lift.bootstrap.low), y + 8, scale.at(lift.bootstrap.high), y + 8, "bootstrap"))
    if estimate.interval is not None:
        low, high = scale.at(estimate.interval.low), scale.at(estimate.interval.high)
        parts.append(
            tag("rect", x=low, y=y - 4, width=max(1.0, high - low), height=8, rx=4, class_="span", style=colour)
        )
    parts.append(tag("circle", cx=scale.at(estimate.mean), cy=y, r=6, class_="dot", style=colour))
    parts.append(text(words.number(estimate.mean, True), WIDTH - RIGHT + 14, y + 4, "value strong"))
    said = f"paired t {words.interval(estimate.interval)}; bootstrap {words.interval(lift.bootstrap)}"
    return tag("g", hint(said), *parts)


def _case(case: CaseLift, scale: Scale, y: float) -> str:
    name = case.case if len(case.case) <= NAME_CHARACTERS else case.case[: NAME_CHARACTERS - 1] + "…"
    parts = [text(name, LEFT - 12, y + 4, "name", "end")]
    if case.interval is not None:
        low, high = case.interval.low, case.interval.high
        parts.append(line(scale.at(low), y, scale.at(high), y, "whisker"))
        for end, edge, sign in ((low, scale.low, 1), (high, scale.high, -1)):
            if (edge - end) * sign > 0:  # the interval continues beyond the picture
                x = scale.at(edge)
                parts.append(
                    tag("path", d=f"M{x + 5 * sign:g} {y - 3:g}L{x:g} {y:g}L{x + 5 * sign:g} {y + 3:g}", class_="arrow")
                )
    how = "good" if case.lift > 0 else "bad" if case.lift < 0 else "even"
    parts.append(tag("circle", cx=scale.at(case.lift), cy=y, r=4, class_=f"dot {how}"))
    parts.append(text(words.number(case.lift, True), WIDTH - RIGHT + 14, y + 4, "value"))
    said = (
        f"{case.case}: {words.number(case.baseline)} → {words.number(case.arm)} "
        f"over {quantity(case.pairs, 'pair')}; interval {words.interval(case.interval)}"
    )
    return tag("g", hint(said), *parts)
