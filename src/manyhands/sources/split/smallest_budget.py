"""Refuses a budget that the tree cannot keep, and finds the smallest one that it can.

A few odd files, such as a minified script, are left over the budget with a reason. This is about the tree as a whole.
"""

from manyhands.errors import UsageError
from manyhands.quantities import quantity
from manyhands.sources.split.split_types import BYTES_PER_TOKEN, Source, SplitSettings
from manyhands.sources.split.splitter import FileReader
from manyhands.sources.split.symbols import LINES_MIN


def check_budget(source: Source, settings: SplitSettings, read: FileReader) -> None:
    budget, tokens = settings.budget_tokens, source.tokens
    if settings.max_files is not None and settings.max_files < settings.min_files:
        raise UsageError(
            f"`--max-files` is {settings.max_files}, but `--min-files` is {settings.min_files}",
            "give a larger --max-files, or leave one of them out",
        )
    for_files = _for_files(tokens, settings.min_files)
    if budget < for_files:
        count = min(settings.min_files, len(tokens))
        raise UsageError(
            f"a budget of {budget:,} tokens is too small for leaves of {quantity(count, 'file')}:"
            f" a file has {sum(tokens) / len(tokens):,.0f} tokens on average",
            f"use --budget {for_files} or more, or a smaller --min-files",
        )
    for_lines = _for_lines(source, budget, read)
    if budget < for_lines:
        raise UsageError(
            f"a budget of {budget:,} tokens is too small for this code base:"
            f" a piece of a file has at least {LINES_MIN} lines",
            f"use --budget {for_lines} or more",
        )


def _for_files(tokens: list[int], min_files: int) -> int:
    """So many files of average size make a leaf. If there is no second leaf, all files must fit into one."""
    total, count = sum(tokens), len(tokens)
    if min_files == 1:
        return 0
    return total if count < 2 * min_files else -(-total * min_files // count)


def _for_lines(source: Source, budget: int, read: FileReader) -> int:
    """The size of two of the shortest pieces in the typical file that must be cut.

    With room for two, a cut is found between `LINES_MIN` lines and twice as many. It is 0 if less than half of the
    tree must be cut.
    """
    sizes: list[tuple[int, int]] = []  # tokens of two shortest pieces, tokens of the file
    for path, tokens in zip(source.paths, source.tokens, strict=True):
        content = read(path) if tokens > budget else None
        lines = content.count(b"\n") if content is not None else 0
        if content is not None and lines >= 2 * LINES_MIN:
            sizes.append((-(-len(content) * 2 * LINES_MIN // (lines * BYTES_PER_TOKEN)), tokens))
    half = sum(tokens for _, tokens in sizes) / 2
    if half <= sum(source.tokens) / 4:
        return 0
    for size, tokens in sorted(sizes):
        half -= tokens
        if half <= 0:
            return size
    return 0
