"""Makes docs/images/demo.svg, the moving picture of the README: `manyhands demo` in a real terminal of 80 × 24.

It needs tmux. Each line of the terminal is kept as long as it stays the same, so the picture is small.
"""

import subprocess
import sys
import time
from collections.abc import Iterator
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from rich.color import ColorTriplet
from rich.style import Style
from rich.terminal_theme import DIMMED_MONOKAI
from rich.text import Text

OUT = Path(__file__).parent / "images" / "demo.svg"
COLUMNS, LINES = 80, 24
FRAME_S, END_S = 0.5, 6.0
#: Faster than life, so that the whole story is seen. The picture says so.
SPEED = 1.6
CELL_W, CELL_H, MARGIN = 8.4, 18, 12
NO_BREAK = "\u00a0"  # ordinary spaces are drawn as one
PAPER, INK = "#16161e", "#c8ccd4"
TMUX = ("tmux", "-u", "-L", f"picture-{int(time.time())}")


class Shown(NamedTuple):
    line: int
    text: str  # with its colours
    begin: float
    end: float


def main() -> int:
    frames = record()
    OUT.write_text(drawn(frames))
    print(f"{OUT}: {len(frames)} frames, {OUT.stat().st_size / 1000:.0f} kB")
    return 0


def record() -> list[list[str]]:
    """What the terminal showed, twice a second."""
    program = Path(sys.executable).with_name("manyhands")
    command = f"cd /tmp && env TERM=xterm-256color {program} demo --no-page; sleep {END_S}"
    size = ("-x", str(COLUMNS), "-y", str(LINES))
    subprocess.run([*TMUX, "new-session", "-d", "-s", "demo", *size, command], check=True)
    frames: list[list[str]] = []
    while True:
        time.sleep(FRAME_S)
        done = subprocess.run(
            [*TMUX, "capture-pane", "-p", "-e", "-t", "demo"], capture_output=True, text=True, check=False
        )
        if done.returncode:
            return frames
        frames.append(done.stdout.split("\n")[:LINES])


def drawn(frames: list[list[str]]) -> str:
    width, height = COLUMNS * CELL_W + 2 * MARGIN, LINES * CELL_H + 2 * MARGIN
    whole_s = len(frames) * FRAME_S / SPEED
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" font-family="ui-monospace,DejaVu Sans Mono,Menlo,Consolas,monospace" font-size="14">',
        "<title>manyhands demo in a terminal</title>",
        f'<rect width="100%" height="100%" rx="8" fill="{PAPER}">',
        f'<animate id="m" attributeName="x" from="0" to="0" begin="0s;m.end" dur="{whole_s:.2f}s"/></rect>',
        f'<g fill="{INK}">',
    ]
    for one in kept(frames):
        y = MARGIN + CELL_H * (one.line + 0.75)
        parts.append(
            f'<text y="{y:.1f}" visibility="hidden">{"".join(runs(one.text))}<set attributeName="visibility" '
            f'to="visible" begin="m.begin+{one.begin / SPEED:.2f}s" dur="{(one.end - one.begin) / SPEED:.2f}s"/></text>'
        )
    return "\n".join([*parts, "</g></svg>"]) + "\n"


def kept(frames: list[list[str]]) -> Iterator[Shown]:
    for line in range(LINES):
        began, text = 0, ""
        for number in range(len(frames) + 1):
            now = frames[number][line] if number < len(frames) and line < len(frames[number]) else ""
            if now != text or number == len(frames):
                if text.strip():
                    yield Shown(line, text, began * FRAME_S, number * FRAME_S)
                began, text = number, now


def runs(ansi: str) -> Iterator[str]:
    """Pieces of one style, each at its own column: fonts differ in how wide a block is."""
    text = Text.from_ansi(ansi)
    places = sorted({0, len(text), *(edge for span in text.spans for edge in (span.start, span.end))})
    for begin, end in pairwise(places):
        piece = text.plain[begin:end]
        if not piece.strip():
            continue
        over = [span.style for span in text.spans if span.start <= begin < span.end]
        style = Style.combine([Style.null(), *(each for each in over if isinstance(each, Style))])
        fill = "" if style.color is None else f' fill="{hex_of(style.color.get_truecolor(DIMMED_MONOKAI))}"'
        look = fill + (' font-weight="bold"' if style.bold else "") + (' opacity=".6"' if style.dim else "")
        at, told = MARGIN + begin * CELL_W, escape(piece.replace(" ", NO_BREAK))
        yield f'<tspan x="{at:.1f}" textLength="{len(piece) * CELL_W:.1f}"{look}>{told}</tspan>'


def hex_of(colour: ColorTriplet) -> str:
    return colour.hex


if __name__ == "__main__":
    sys.exit(main())
