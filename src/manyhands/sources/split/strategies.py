"""Three ways to split a set of files, in the order in which they are tried. Each may decline by returning no parts."""

from collections.abc import Callable

from manyhands.sources.split.agglomeration import UnitGroup, agglomerate
from manyhands.sources.split.directories import directory_groups
from manyhands.sources.split.even_runs import even_runs
from manyhands.sources.split.nesting import Part, nest_by_ties, nest_in_order
from manyhands.sources.split.packing import pack
from manyhands.sources.split.split_types import Source, SplitSettings
from manyhands.sources.split.tie_weights import Ties, all_ties, static_ties
from manyhands.sources.split.topping_up import top_up

#: Ties closer than this share are decided with everything that is known. Looser ones are so close that any new commit
#: could reverse them. So only what does not change decides them: imports and directories. On django 0.1 and 0.2 gave
#: the same quality; with 0.3 fewer whole changes stayed in one leaf, and 0.05 was less stable.
_CLOSE = 0.15


def weight_of(tokens: int, settings: SplitSettings) -> int:
    """What a file counts in a leaf whose budget is multiplied by `max_files`, so that all numbers are whole."""
    return tokens if settings.max_files is None else max(tokens * settings.max_files, settings.budget_tokens)


class Strategies:
    """The strategies for one source. What they share is computed once."""

    def __init__(self, source: Source, settings: SplitSettings) -> None:
        self._source, self._min_files = source, settings.min_files
        # A file counts for at least its share of a full leaf. So a leaf within the budget has at most `max_files`.
        self._budget = settings.budget_tokens * (settings.max_files or 1)
        self._tokens = [weight_of(tokens, settings) for tokens in source.tokens]
        self._connected = bool(source.imports or source.commits)
        self._all: Ties | None = None
        self._static: Ties = {}

    def leaf_sized(self, parts: list[Part]) -> list[Part]:
        """The same parts without intermediate levels, each at most the size of a leaf."""
        leaves = [leaf for part in parts for leaf in part.leaves()]
        fits = [sum(self._tokens[i] for i in leaf.files) <= self._budget or len(leaf.files) == 1 for leaf in leaves]
        return [
            small
            for leaf, as_it_is in zip(leaves, fits, strict=True)
            for small in ([leaf] if as_it_is else [Part(run) for run in self._even(leaf.files)])
        ]

    def in_order(self) -> list[tuple[str, Callable[[UnitGroup], list[Part]]]]:
        return [("affinity", self.by_affinity), ("directory", self.by_directory), ("chunks", self.by_chunks)]

    def ties(self) -> Ties:
        if self._all is None:
            self._all, self._static = all_ties(self._source), static_ties(self._source)
        return self._all

    def by_affinity(self, files: UnitGroup) -> list[Part]:
        if not self._connected or not self._is_tied(files):
            return []
        ties = self.ties()
        inside = set(files)
        ties = {tie: weight for tie, weight in ties.items() if tie[0] in inside and tie[1] in inside}
        static = {tie: weight for tie, weight in self._static.items() if tie[0] in inside and tie[1] in inside}
        groups = agglomerate([[i] for i in files], self._tokens, ties, self._budget, _CLOSE)
        groups = agglomerate(groups, self._tokens, static, self._budget)
        leaves = self._packed(groups, ties)
        return nest_by_ties(leaves, self._source, self._tokens, ties, self._budget)

    def _is_tied(self, files: UnitGroup) -> bool:
        inside = set(files)
        return any(a in inside and b in inside for a, b, _ in self._source.imports) or any(
            len(inside.intersection(commit)) > 1 for commit in self._source.commits
        )

    def by_directory(self, files: UnitGroup) -> list[Part]:
        leaves = directory_groups(files, self._source.paths, self._tokens, self._budget)
        return nest_in_order(self._with_enough_files(leaves), self._tokens, self._budget)

    def by_chunks(self, files: UnitGroup) -> list[Part]:
        """Groups of neighbours by path, as even as the files allow."""
        return nest_in_order(self._with_enough_files(self._even(files)), self._tokens, self._budget)

    def _with_enough_files(self, leaves: list[UnitGroup]) -> list[UnitGroup]:
        return leaves if self._min_files == 1 else self._packed(leaves, {})

    def _packed(self, groups: list[UnitGroup], ties: Ties) -> list[UnitGroup]:
        packed = pack(groups, self._source.paths, self._tokens, ties, self._budget, self._min_files)
        if self._min_files == 1:
            return packed
        return top_up(packed, self._source.paths, self._tokens, ties, self._budget, self._min_files)

    def _even(self, files: UnitGroup) -> list[UnitGroup]:
        return even_runs(files, [self._tokens[i] for i in files], self._budget)
