"""The recursion: a set of files becomes a leaf, or is split by the first strategy that makes progress."""

from collections.abc import Callable
from typing import NamedTuple

from manyhands.sources.split.agglomeration import UnitGroup
from manyhands.sources.split.naming import name_of
from manyhands.sources.split.nesting import PROGRESS_MAX, Part, makes_progress
from manyhands.sources.split.split_types import Range, Source, SplitSettings, Subplan, node_id, tokens_of
from manyhands.sources.split.strategies import Strategies, weight_of
from manyhands.sources.split.symbols import Span, split_inside

FileReader = Callable[[str], bytes | None]  # a file's content, if it is available


class Division(NamedTuple):
    """How a set is split; without parts, the reason why it is not."""

    strategy: str
    parts: list[Part]
    reason: str


class Splitter:
    """Collects `nodes` during the split. New nodes do not get ids in `taken`."""

    def __init__(
        self, source: Source, settings: SplitSettings, read: FileReader, taken: frozenset[str] = frozenset()
    ) -> None:
        self.nodes: dict[str, Subplan] = {}
        self._source, self._settings, self._read, self._taken = source, settings, read, taken
        self._tokens = source.tokens
        self._strategies = Strategies(source, settings)
        self._spans: dict[int, dict[tuple[int, int], Span]] = {}

    def split(self, part: Part, depth: int, parent: str | None, strategy: str = "") -> str:
        """The id of the subplan made of this part, which `strategy` may already have split."""
        tokens = self._size(part)
        ranges = self._ranges(part)
        files = tuple(self._source.paths[i] for i in part.files)
        id = self._new_id(files, ranges)
        reason = self._why_leaf(part, tokens, depth)
        division = Division("", [], reason) if reason else self._take_apart(part, depth, strategy)
        children = tuple(self.split(child, depth + 1, id, division.strategy) for child in division.parts)
        self.nodes[id] = Subplan(
            id=id,
            name=name_of(files, [self._tokens[i] for i in part.files]),
            parent=parent,
            children=children,
            files=() if children else files,
            ranges=() if children else ranges,
            tokens=tokens,
            depth=depth,
            strategy=division.strategy,
            reason=division.reason,
        )
        return id

    def _new_id(self, files: tuple[str, ...], ranges: tuple[Range, ...]) -> str:
        id = plain = node_id(files, ranges)
        again = 1
        while id in self._taken or id in self.nodes:
            again += 1
            id = f"{plain}-{again}"
        return id

    def _why_leaf(self, part: Part, tokens: int, depth: int) -> str:
        budget, most = self._settings.budget_tokens, self._settings.max_files
        over = f"{tokens:,} tokens are over the budget" if tokens > budget else f"{len(part.files)} files are too many"
        if tokens <= budget and (most is None or len(part.files) <= most):
            return f"fits: {tokens:,} of {budget:,} tokens"
        if part.lines is not None:
            return f"few_lines: {over}, but so few lines are not split"
        if depth >= self._settings.max_depth:
            return f"max_depth: {over}, but depth {depth} is the maximum"
        if len(part.files) == 1 and len(self._spans_of(part.files[0])) < 2:
            return f"oversize: {over}, and the file could not be split by symbols or lines"
        return ""

    def _take_apart(self, part: Part, depth: int, found_by: str) -> Division:
        if len(part.files) == 1:
            return Division("symbols", self._inside_files([part]), f"one file of {self._size(part):,} tokens")
        if part.parts:
            parts = self._fit(part.parts, depth)
            if self._progress(parts):
                return Division(found_by, parts, "over the budget")
        declined: list[str] = []
        for name, strategy in self._strategies.in_order():
            parts = self._fit(strategy(part.files), depth)
            if self._progress(parts):
                return Division(name, parts, "; ".join(["over the budget", *declined]))
            declined.append(self._why_no_progress(name, parts))
        return Division("", [], "no_progress: " + "; ".join(declined))

    def _fit(self, parts: list[Part], depth: int) -> list[Part]:
        """The parts; without intermediate levels if the next level is the deepest."""
        if depth + 1 >= self._settings.max_depth:
            parts = self._strategies.leaf_sized(parts)
        return self._inside_files(parts)

    def _inside_files(self, parts: list[Part]) -> list[Part]:
        """Replace a file over the budget by its pieces: as one child it could be nearly the whole set."""
        expanded: list[Part] = []
        for part in parts:
            alone = len(part.files) == 1 and self._size(part) > self._settings.budget_tokens
            spans = self._spans_of(part.files[0]) if alone else {}
            if len(spans) > 1:
                expanded.extend(Part(part.files, lines=lines) for lines in spans)
            else:
                expanded.append(part)
        return expanded

    def pieces_of(self, file: int) -> list[Part]:
        """The file in pieces that fit, or whole if it fits or cannot be split."""
        return self._inside_files([Part([file])])

    def _spans_of(self, file: int) -> dict[tuple[int, int], Span]:
        if file not in self._spans:
            path = self._source.paths[file]
            content = self._read(path)
            spans = split_inside(path, content, self._settings.budget_tokens) if content is not None else []
            self._spans[file] = {(span.first_line, span.last_line): span for span in spans}
        return self._spans[file]

    def _ranges(self, part: Part) -> tuple[Range, ...]:
        if part.lines is None:
            return ()
        return (Range(self._source.paths[part.files[0]], *part.lines),)

    def _size(self, part: Part) -> int:
        if part.lines is not None:
            return tokens_of(self._spans[part.files[0]][part.lines].size_bytes)
        return sum(self._tokens[i] for i in part.files)

    def _weight(self, part: Part) -> int:
        if part.lines is not None:
            return weight_of(self._size(part), self._settings)
        return sum(weight_of(self._tokens[i], self._settings) for i in part.files)

    def _progress(self, parts: list[Part]) -> bool:
        return makes_progress([self._weight(part) for part in parts])

    def _why_no_progress(self, name: str, parts: list[Part]) -> str:
        if len(parts) < 2:
            return f"{name} finds no parts"
        sizes = [self._weight(part) for part in parts]
        return f"{name} leaves {max(sizes) / sum(sizes):.0%} in one part, over {PROGRESS_MAX:.0%}"


def whole(files: UnitGroup) -> Part:
    return Part(sorted(files))
