"""From a source to a finished tree: split it, then measure what each split cuts."""

import msgspec

from manyhands.sources.split.agglomeration import UnitGroup
from manyhands.sources.split.cuts import with_cuts
from manyhands.sources.split.smallest_budget import check_budget
from manyhands.sources.split.split_types import Source, SplitSettings, Subplan, Tree
from manyhands.sources.split.splitter import FileReader, Splitter, whole


def nothing_to_read(path: str) -> bytes | None:
    """The reader of a prepared graph, which has no contents."""
    return None


def split(
    source: Source, settings: SplitSettings, read: FileReader = nothing_to_read, notes: tuple[str, ...] = ()
) -> Tree:
    """The tree of a whole source of at least one file."""
    check_budget(source, settings, read)
    splitter = Splitter(source, settings, read)
    everything: UnitGroup = list(range(len(source.paths)))
    root = splitter.split(whole(everything), depth=0, parent=None)
    return finished(splitter.nodes, root, source, settings, notes)


def finished(
    nodes: dict[str, Subplan], root: str, source: Source, settings: SplitSettings, notes: tuple[str, ...]
) -> Tree:
    """Nodes in the order of the tree, with their depths and cuts as they are now."""
    ordered: list[Subplan] = []
    waiting: list[tuple[str, str | None, int]] = [(root, None, 0)]
    while waiting:
        id, parent, depth = waiting.pop()
        node = msgspec.structs.replace(nodes[id], parent=parent, depth=depth)
        ordered.append(node)
        waiting.extend((child, id, depth + 1) for child in reversed(node.children))
    return Tree(root=root, settings=settings, nodes=with_cuts(tuple(ordered), source), notes=notes)
