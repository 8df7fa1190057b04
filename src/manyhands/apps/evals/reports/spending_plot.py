"""What each arm used: tokens in and out, cost and time, as bars with one scale each."""

from collections.abc import Mapping, Sequence

from manyhands.apps.evals.figures.figure_values import ArmFigures
from manyhands.apps.evals.reports import words
from manyhands.apps.evals.reports.svg import hint, picture, tag, text

WIDTH, LEFT, RIGHT = 372.0, 84.0, 96.0
ROW = 24.0


def spending_plot(
    title: str,
    arms: Sequence[ArmFigures],
    shares: Mapping[str, Sequence[float]],
    colours: Mapping[str, str],
    said: Mapping[str, str],
) -> str:
    """`shares` has the parts of each bar, the darkest first. `said` has the text beside each bar."""
    largest = max(sum(parts) for parts in shares.values())
    if not largest:
        return ""
    drawn: list[str] = []
    for place, arm in enumerate(arms):
        y = 6 + ROW * place
        name = arm.arm if len(arm.arm) <= 12 else arm.arm[:11] + "…"
        drawn.append(text(name, LEFT - 10, y + 13, "name", "end"))
        x = LEFT
        for order, part in enumerate(shares[arm.arm]):
            width = (WIDTH - LEFT - RIGHT) * part / largest
            if width > 0:
                style = colours[arm.arm] + (";opacity:.45" if order else "")
                drawn.append(
                    tag(
                        "rect",
                        hint(f"{arm.arm}: {words.number(float(part))}"),
                        x=x,
                        y=y,
                        width=width,
                        height=16,
                        rx=2,
                        class_="amount",
                        style=style,
                    )
                )
            x += width
        drawn.append(text(said[arm.arm], x + 8, y + 13, "value"))
    return picture(WIDTH, 12 + ROW * len(arms), title, *drawn)


def tokens_plot(arms: Sequence[ArmFigures], colours: Mapping[str, str]) -> str:
    said = {arm.arm: f"{_short(arm.tokens_in)} + {_short(arm.tokens_out)}" for arm in arms}
    return spending_plot(
        "Tokens in and out",
        arms,
        {arm.arm: (float(arm.tokens_in), float(arm.tokens_out)) for arm in arms},
        colours,
        said,
    )


def cost_plot(arms: Sequence[ArmFigures], colours: Mapping[str, str]) -> str:
    said = {arm.arm: words.number(arm.cost) for arm in arms}
    return spending_plot("Cost", arms, {arm.arm: (arm.cost or 0.0,) for arm in arms}, colours, said)


def _short(count: int) -> str:
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if count >= size:
            return f"{count / size:.3g}{letter}"
    return str(count)
