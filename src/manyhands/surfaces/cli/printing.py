"""How answers are printed: as a table for people, as JSON or bare ids for programs.

Data goes to stdout. Talk goes to stderr.
"""

import enum
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TextIO

from manyhands.surfaces.cli.terminal_text import for_terminal

#: Longer cells of a table are cut; `--output json` prints them whole.
CELL_CHARACTERS_MAX = 100


class OutputFormat(enum.StrEnum):
    TABLE = "table"
    JSON = "json"
    IDS = "ids"


class LogOutput(enum.StrEnum):
    LINES = "lines"
    JSONL = "jsonl"


class ReviewOutput(enum.StrEnum):
    MARKDOWN = "markdown"
    JSON = "json"
    HTML = "html"


#: The first word of a message → its colour on a terminal.
_COLOURS = {"error:": "1;31", "note:": "33", "hint:": "36", "next:": "36"}


def say(text: str) -> None:
    """Print talk to stderr, so that it never mixes with data."""
    _write(sys.stderr, text + "\n", coloured=takes_colour(sys.stderr))


def put(text: str) -> None:
    """Print data to stdout."""
    _write(sys.stdout, text)


def takes_colour(stream: TextIO) -> bool:
    wants_none = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM", "dumb") == "dumb"
    return not wants_none and stream.isatty()


def _write(stream: TextIO, text: str, coloured: bool = False) -> None:
    text = for_terminal(text)  # before our own colours, which are meant to be obeyed
    if coloured:
        text = "\n".join(map(_with_colour, text.split("\n")))
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        # The reader has closed the pipe (`| head`). That must not stop a run or change its exit code.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _with_colour(line: str) -> str:
    word, space, rest = line.partition(" ")
    return f"\x1b[{_COLOURS[word]}m{word}\x1b[0m{space}{rest}" if word in _COLOURS else line


def put_lines(lines: Iterable[str]) -> None:
    put("".join(f"{line}\n" for line in lines))


def print_json(value: object) -> None:
    # Imported here: tables and help do not need it.
    import msgspec

    put(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")


def print_rows(rows: Sequence[Mapping[str, object]], output: OutputFormat, id_field: str, none: str = "") -> None:
    """Rows with the same keys. JSON has the values unchanged, a table has them as text; `none` is said of no rows."""
    if output is OutputFormat.JSON:
        print_json(list(rows))
    elif output is OutputFormat.IDS:
        put_lines(str(row[id_field]) for row in rows)
    else:
        print_table(rows)
    if not rows and none and output is not OutputFormat.JSON:
        say(none)


def print_table(rows: Sequence[Mapping[str, object]]) -> None:
    if not rows:
        return
    names = list(rows[0])
    cells = [[name.upper().replace("_", " ") for name in names]]
    cells += [[cell(row[name]) for name in names] for row in rows]
    widths = [max(len(line[i]) for line in cells) for i in range(len(names))]
    numeric = [all(isinstance(row[name], (int, float, type(None))) for row in rows) for name in names]
    put_lines(
        "  ".join(
            text.rjust(width) if right else text.ljust(width)
            for text, width, right in zip(line, widths, numeric, strict=True)
        ).rstrip()
        for line in cells
    )


def cell(value: object) -> str:
    """On one line of limited length, as people would write it."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case float():
            return f"{value:.4g}"
        case list() | tuple():
            text = ", ".join(cell(each) for each in value)
        case dict():
            text = ", ".join(f"{name} = {cell(each)}" for name, each in value.items())
        case _:
            text = " ".join(str(value).split())
    return text if len(text) <= CELL_CHARACTERS_MAX else text[: CELL_CHARACTERS_MAX - 1] + "…"


def duration(seconds: float) -> str:
    """0.3s, 12s, 3m 41s, 2h 5m: at most two units."""
    if seconds < 10:
        return f"{seconds:.1f}s"
    whole = round(seconds)
    for unit, size, smaller, part in (("d", 86400, "h", 3600), ("h", 3600, "m", 60), ("m", 60, "s", 1)):
        if whole >= size:
            rest = whole % size // part
            return f"{whole // size}{unit} {rest}{smaller}" if rest else f"{whole // size}{unit}"
    return f"{whole}s"


def counted(counts: Mapping[str, int], always: Sequence[str] = ("done", "failed")) -> str:
    """`done 96 · failed 0 · running 6`: complete, and with the zeros that people look for."""
    return " · ".join(f"{name} {n}" for name, n in counts.items() if n or name in always)
