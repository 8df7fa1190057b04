"""The distribution of values in each arm: histograms below each other, on the same scale."""

from collections.abc import Mapping, Sequence

from manyhands.apps.evals.figures.estimate import mean_of
from manyhands.apps.evals.reports import words
from manyhands.apps.evals.reports.svg import Scale, hint, line, picture, tag, text

WIDTH, LEFT, RIGHT, TOP = 372.0, 84.0, 16.0, 8.0
ROW, BAR = 58.0, 42.0
BINS = 20


def distribution_plot(title: str, values: Mapping[str, Sequence[float]], colours: Mapping[str, str]) -> str:
    """`values` has the values of each arm. An arm without values has an empty row."""
    every = [value for of_arm in values.values() for value in of_arm]
    if not every:
        return ""
    low, high = min(every), max(every)
    if low == high:
        low, high = low - 0.5, high + 0.5
    scale = Scale(low, high, LEFT, WIDTH - RIGHT)
    bottom = TOP + ROW * len(values)
    parts = []
    for value in scale.ticks(4):
        parts.append(line(scale.at(value), TOP, scale.at(value), bottom - 4, "grid"))
        parts.append(text(f"{value:g}", scale.at(value), bottom + 13, "tick", "middle"))
    counts = {arm: _counts(of_arm, scale) for arm, of_arm in values.items()}
    highest = max(count / len(values[arm]) for arm in counts for count in counts[arm] if count)
    for place, arm in enumerate(values):
        parts += _row(arm, values[arm], counts[arm], highest, scale, TOP + ROW * place, colours[arm])
    return picture(WIDTH, bottom + 20, f"{title} by arm", *parts)


def _counts(values: Sequence[float], scale: Scale) -> list[int]:
    counts = [0] * BINS
    for value in values:
        counts[min(BINS - 1, int((value - scale.low) / (scale.high - scale.low) * BINS))] += 1
    return counts


def _row(
    arm: str, values: Sequence[float], counts: list[int], highest: float, scale: Scale, top: float, colour: str
) -> list[str]:
    """Heights are shares of the values of the arm, on the same scale for all arms."""
    foot = top + 8 + BAR
    name = arm if len(arm) <= 12 else arm[:11] + "…"
    parts = [text(name, LEFT - 10, foot - 14, "name", "end"), line(LEFT, foot, WIDTH - RIGHT, foot, "axis")]
    parts.append(text(f"n {len(values):,}", LEFT - 10, foot, "tick", "end"))
    if not values:
        return parts
    step = (scale.high - scale.low) / BINS
    for place, count in enumerate(counts):
        if count:
            begins, ends = scale.low + place * step, scale.low + (place + 1) * step
            x, until = scale.at(begins), scale.at(ends)
            height = max(1.5, BAR * count / len(values) / highest)
            said = hint(f"{arm}: {count:,} of {len(values):,} from {begins:.3g} to {ends:.3g}")
            box = {"x": x + 0.5, "y": foot - height, "width": until - x - 1, "height": height}
            parts.append(tag("rect", said, **box, class_="bin", style=colour))
    mean = mean_of(values)
    said = hint(f"{arm}: mean {words.number(mean)}")
    parts.append(tag("line", said, x1=scale.at(mean), x2=scale.at(mean), y1=top + 4, y2=foot, class_="mean"))
    return parts
