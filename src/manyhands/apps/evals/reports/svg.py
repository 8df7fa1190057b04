"""Inline SVG: elements as text, scales, and ticks at round numbers."""

from collections.abc import Iterator
from html import escape
from math import ceil, floor, log10

from msgspec import Struct


def tag(name: str, *children: str, **attributes: object) -> str:
    """An element. `class_` becomes class, and other underscores become hyphens. Numbers are rounded."""
    told = "".join(f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"' for key, value in attributes.items())
    return f"<{name}{told}>{''.join(children)}</{name}>" if children else f"<{name}{told}/>"


def text(said: str, x: float, y: float, class_: str = "", anchor: str = "start") -> str:
    return tag("text", escape(said), x=x, y=y, class_=class_, text_anchor=anchor)


def hint(said: str) -> str:
    """What a browser shows when the pointer is over the surrounding element."""
    return tag("title", escape(said))


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> str:
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def picture(width: float, height: float, says: str, *children: str) -> str:
    return tag("svg", *children, viewBox=f"0 0 {width:g} {height:g}", role="img", aria_label=says, class_="plot")


def _value(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else escape(str(value))


class Scale(Struct, frozen=True):
    """Maps values to places on the screen."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        inside = min(max(value, self.low), self.high)
        return self.start + (inside - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self, wanted: int = 6) -> Iterator[float]:
        rough = (self.high - self.low) / wanted
        power = 10.0 ** floor(log10(rough))
        step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * 0.999)
        for count in range(ceil(self.low / step - 1e-9), floor(self.high / step + 1e-9) + 1):
            yield round(count * step, 12)


def scale_over(values: list[float], start: float, end: float, room: float = 0.05) -> Scale:
    low, high = min(values), max(values)
    if low == high:
        low, high = low - 0.5, high + 0.5
    more = (high - low) * room
    return Scale(low - more, high + more, start, end)
