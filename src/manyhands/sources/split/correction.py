"""Updates a tree: leaves that an edit touched are split again. All other leaves stay unchanged, including their ids.

The nodes above a touched leaf keep their ids too, because tasks name them as their parents.
"""

from typing import NamedTuple

import msgspec

from manyhands.errors import UsageError
from manyhands.sources.split.nesting import Part
from manyhands.sources.split.smallest_budget import check_budget
from manyhands.sources.split.split_types import Source, SplitSettings, Subplan, Tree
from manyhands.sources.split.splitter import FileReader, Splitter
from manyhands.sources.split.splitting import finished, nothing_to_read
from manyhands.sources.split.tie_weights import all_ties


class CorrectedTree(NamedTuple):
    tree: Tree
    gone: tuple[str, ...]  # ids of the old tree that the new one does not have
    new: tuple[str, ...]  # ids that only the new one has


def correct(
    tree: Tree,
    source: Source,
    settings: SplitSettings,
    read: FileReader = nothing_to_read,
    notes: tuple[str, ...] = (),
    again: tuple[str, ...] = (),
) -> CorrectedTree:
    """`again` names subplans to split again even though nothing in them changed."""
    check_budget(source, settings, read)
    correction = _Correction(tree, source, settings, read, again)
    nodes, root = correction.run()
    corrected = finished(nodes, root, source, settings, notes)
    before, after = [node.id for node in tree.nodes], [node.id for node in corrected.nodes]
    old, new = set(before), set(after)
    return CorrectedTree(
        corrected, tuple(id for id in before if id not in new), tuple(id for id in after if id not in old)
    )


class _Correction:
    def __init__(
        self, tree: Tree, source: Source, settings: SplitSettings, read: FileReader, again: tuple[str, ...]
    ) -> None:
        self._tree, self._source, self._again = tree, source, again
        self._old = tree.by_id()
        for id in again:
            if id not in self._old:
                raise UsageError(f"there is no subplan `{id}` in the tree", "use an id from `nodes` of the tree")
        self._place = {path: i for i, path in enumerate(source.paths)}
        self._pieces_done: set[int] = set()
        # Once its leaves have changed, a kept node has other files than those its id was made from.
        kept = {node.id for node in tree.nodes if node.children} - {below for id in again for below in self._below(id)}
        self._splitter = Splitter(source, settings, read, taken=frozenset(kept))
        self._held, self._homeless = self._place_files()

    def run(self) -> tuple[dict[str, Subplan], str]:
        tops = self._rebuild(self._tree.root, 0)
        nodes = self._splitter.nodes
        if self._homeless and tops:
            root = nodes[tops[0]]
            extra = self._splitter.split(Part(self._homeless), 1, root.id)
            tokens = root.tokens + nodes[extra].tokens
            nodes[root.id] = msgspec.structs.replace(root, children=(*root.children, extra), tokens=tokens)
        elif self._homeless:
            tops = [self._splitter.split(Part(self._homeless), 0, None)]
        if not tops:
            raise UsageError("no file of the tree is left", "split again without --correct")
        return nodes, tops[0]

    def _below(self, id: str) -> list[str]:
        return [id, *(below for child in self._old[id].children for below in self._below(child))]

    def _place_files(self) -> tuple[dict[str, list[int]], list[int]]:
        """Leaf → its current files, and the files that no leaf can take. New files go where they have most ties."""
        held: dict[str, list[int]] = {}
        home: dict[int, str] = {}
        for node in self._tree.nodes:
            here = [self._place[file] for file in node.files if file in self._place]
            home.update(dict.fromkeys(here, node.id))
            if node.files and not node.ranges:
                held[node.id] = here
        arrived = [i for i in range(len(self._source.paths)) if i not in home]
        near = self._ties_of(arrived)
        homeless = []
        for i in arrived:
            leaf = self._closest(near.get(i, {}), home, held) or self._nearest_path(i, home, held)
            if leaf is None:
                homeless.append(i)
            else:
                held[leaf].append(i)
                home[i] = leaf
        return held, homeless

    def _ties_of(self, files: list[int]) -> dict[int, dict[int, int]]:
        wanted = set(files)
        near: dict[int, dict[int, int]] = {}
        for (a, b), weight in all_ties(self._source).items() if wanted else ():
            for one, other in ((a, b), (b, a)):
                if one in wanted:
                    near.setdefault(one, {})[other] = weight
        return near

    @staticmethod
    def _closest(near: dict[int, int], home: dict[int, str], held: dict[str, list[int]]) -> str | None:
        weight_of: dict[str, int] = {}
        for other, weight in near.items():
            leaf = home.get(other)
            if leaf in held and leaf is not None:
                weight_of[leaf] = weight_of.get(leaf, 0) + weight
        return min(weight_of, key=lambda leaf: (-weight_of[leaf], leaf), default=None)

    @staticmethod
    def _nearest_path(file: int, home: dict[int, str], held: dict[str, list[int]]) -> str | None:
        settled = [i for i, leaf in home.items() if leaf in held]
        nearest = min(settled, key=lambda i: (abs(i - file), i), default=None)
        return None if nearest is None else home[nearest]

    def _rebuild(self, id: str, depth: int) -> list[str]:
        """The ids that replace this node: none if it is empty, several for the pieces of a file."""
        node = self._old[id]
        if id in self._again:
            return self._split_again(sorted({i for below in self._below(id) for i in self._files_of(below)}), depth)
        if node.ranges:
            return self._pieces(node, depth)
        if not node.children:
            return self._split_again(self._held.get(id, []), depth, node)
        children = [new for child in node.children for new in self._rebuild(child, depth + 1)]
        if len(children) < 2:
            return children
        tokens = sum(self._splitter.nodes[child].tokens for child in children)
        self._splitter.nodes[id] = msgspec.structs.replace(node, children=tuple(children), tokens=tokens)
        return [id]

    def _files_of(self, id: str) -> list[int]:
        node = self._old[id]
        return self._held.get(id) or [self._place[file] for file in node.files if file in self._place]

    def _split_again(self, files: list[int], depth: int, node: Subplan | None = None) -> list[str]:
        if not files:
            return []
        id = self._splitter.split(Part(sorted(files)), depth, None)
        if node is not None and node.id == id:
            self._splitter.nodes[id] = msgspec.structs.replace(self._splitter.nodes[id], name=node.name)
        return [id]

    def _pieces(self, node: Subplan, depth: int) -> list[str]:
        """All pieces of a file go where the first one was. Pieces whose lines did not change keep their ids."""
        file = self._place.get(node.files[0])
        if file is None or file in self._pieces_done:
            return []
        self._pieces_done.add(file)
        return [self._splitter.split(part, depth, None) for part in self._splitter.pieces_of(file)]
