"""Splits a file over the budget between its top-level symbols, or between lines if a symbol is too large."""

import ast
from typing import NamedTuple

from manyhands.sources.split.even_runs import even_runs
from manyhands.sources.split.imports.grammars import top_level_lines
from manyhands.sources.split.split_types import tokens_of

#: A piece of a file has at least this many lines: fewer are rarely a whole function.
LINES_MIN = 20


class Span(NamedTuple):
    first_line: int  # from 1; both ends are included
    last_line: int
    size_bytes: int


def split_inside(path: str, content: bytes, budget: int) -> list[Span]:
    """Spans that cover the file, within the budget unless so few lines are larger. Fewer than two: it stays whole."""
    lines = content.splitlines(keepends=True)
    if len(lines) < 2 * LINES_MIN:
        return []
    starts = [_symbol_starts(path, content, lines), _after_blank_lines(lines), list(range(1, len(lines) + 1))]
    sizes = [len(line) for line in lines]
    units = _units(1, len(lines), starts, sizes, budget)
    weights = [tokens_of(sum(sizes[first - 1 : last])) for first, last in units]
    runs = even_runs(units, weights, budget)
    spans = _long_enough([(run[0][0], run[-1][1]) for run in runs], sizes)
    return [Span(first, last, sum(sizes[first - 1 : last])) for first, last in spans]


def _long_enough(spans: list[tuple[int, int]], sizes: list[int]) -> list[tuple[int, int]]:
    """Join each span of too few lines to the smaller of the spans beside it."""
    kept = list(spans)
    at = 0
    while at < len(kept):
        first, last = kept[at]
        if last - first + 1 >= LINES_MIN or len(kept) == 1:
            at += 1
            continue
        beside = [i for i in (at - 1, at + 1) if 0 <= i < len(kept)]
        other = min(beside, key=lambda i: sum(sizes[kept[i][0] - 1 : kept[i][1]]))
        low, high = min(at, other), max(at, other)
        kept[low : high + 1] = [(kept[low][0], kept[high][1])]
        at = low
    return kept


def _units(first: int, last: int, starts: list[list[int]], sizes: list[int], budget: int) -> list[tuple[int, int]]:
    """Ranges of lines that stay together, as large as the budget allows."""
    if tokens_of(sum(sizes[first - 1 : last])) <= budget or not starts:
        return [(first, last)]
    cuts = [line for line in starts[0] if first < line <= last]
    units: list[tuple[int, int]] = []
    for start, end in zip([first, *cuts], [*(cut - 1 for cut in cuts), last], strict=True):
        if tokens_of(sum(sizes[start - 1 : end])) > budget:
            units.extend(_units(start, end, starts[1:], sizes, budget))
        else:
            units.append((start, end))
    return units


def _symbol_starts(path: str, content: bytes, lines: list[bytes]) -> list[int]:
    starts = _python_starts(content) if path.endswith((".py", ".pyi")) else top_level_lines(path, content)
    if starts is None:
        starts = [line for line in _after_blank_lines(lines) if not lines[line - 1][:1].isspace()]
    return [_with_comment(start, lines) for start in starts]


def _python_starts(content: bytes) -> list[int] | None:
    try:
        module = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return [
        min([statement.lineno, *(each.lineno for each in getattr(statement, "decorator_list", ()))])
        for statement in module.body
    ]


def _with_comment(start: int, lines: list[bytes]) -> int:
    """The first line of a symbol with the comment right above it."""
    while start > 1 and lines[start - 2].lstrip().startswith((b"#", b"//", b"/*", b"*", b"--")):
        start -= 1
    return start


def _after_blank_lines(lines: list[bytes]) -> list[int]:
    return [i + 1 for i in range(1, len(lines)) if lines[i].strip() and not lines[i - 1].strip()]
