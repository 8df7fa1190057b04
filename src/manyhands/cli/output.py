"""How answers are printed: as a table for people, as JSON or bare ids for programs. stdout is data, stderr is talk."""

import enum
import sys
from collections.abc import Mapping, Sequence

import msgspec


class Output(enum.StrEnum):
    TABLE = "table"
    JSON = "json"
    IDS = "ids"


def say(text: str) -> None:
    """Talk: to stderr, so that it never gets into data."""
    print(text, file=sys.stderr, flush=True)


def print_json(value: object) -> None:
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")


def print_rows(rows: Sequence[Mapping[str, object]], output: Output, id_field: str) -> None:
    """Rows with the same keys. JSON has the values as they are, a table has them as text."""
    if output is Output.JSON:
        print_json(list(rows))
    elif output is Output.IDS:
        sys.stdout.write("".join(f"{row[id_field]}\n" for row in rows))
    else:
        print_table(rows)


def print_table(rows: Sequence[Mapping[str, object]]) -> None:
    if not rows:
        return
    names = list(rows[0])
    cells = [[name.upper().replace("_", " ") for name in names]]
    cells += [[_cell(row[name]) for name in names] for row in rows]
    widths = [max(len(line[i]) for line in cells) for i in range(len(names))]
    for line in cells:
        text = "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        sys.stdout.write(text.rstrip() + "\n")


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, (list, tuple)):
        return ", ".join(str(each) for each in value)
    text = " ".join(str(value).split())
    return text if len(text) <= 100 else text[:99] + "…"


def duration(seconds: float) -> str:
    """12s, 3m 41s, 2h 5m: two units at the most."""
    if seconds < 10:
        return f"{seconds:.1f}s"
    whole = round(seconds)
    for unit, size, smaller, part in (("h", 3600, "m", 60), ("m", 60, "s", 1)):
        if whole >= size:
            rest = whole % size // part
            return f"{whole // size}{unit} {rest}{smaller}" if rest else f"{whole // size}{unit}"
    return f"{whole}s"


def counted(counts: Mapping[str, int], always: Sequence[str] = ("done", "failed")) -> str:
    """`done 96 · failed 0 · running 6`: complete, with the zeros people look for."""
    return " · ".join(f"{name} {n}" for name, n in counts.items() if n or name in always)
