"""From a source to a finished tree: split it, then measure what each split cuts."""

from collections.abc import Iterable, Iterator

import msgspec

from manyhands.quantities import quantity
from manyhands.sources.split.agglomeration import UnitGroup
from manyhands.sources.split.cuts import with_cuts
from manyhands.sources.split.smallest_budget import check_budget
from manyhands.sources.split.split_types import Source, SplitSettings, Subplan, Tree
from manyhands.sources.split.splitter import FileReader, Splitter, whole

#: More leaves than this are not named in a note.
_NAMED_MAX = 5


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
    nodes_of_tree = with_cuts(tuple(ordered), source)
    return Tree(root=root, settings=settings, nodes=nodes_of_tree, notes=(*notes, *_too_few(ordered, settings)))


def _too_few(nodes: Iterable[Subplan], settings: SplitSettings) -> Iterator[str]:
    """A note about leaves below the wanted number of files. Pieces of a file are not counted by files."""
    few = [
        node
        for node in nodes
        if node.is_leaf and node.parent and not node.ranges and len(node.files) < settings.min_files
    ]
    few = [node for node in few if node.tokens <= settings.budget_tokens]
    if few:
        names = "; ".join(f"{node.name} ({len(node.files)})" for node in few[:_NAMED_MAX])
        more = f"; and {len(few) - _NAMED_MAX} more" if len(few) > _NAMED_MAX else ""
        have = f"{quantity(len(few), 'leaf', 'leaves')} {'has' if len(few) == 1 else 'have'}"
        yield f"{have} fewer than {quantity(settings.min_files, 'file')}: {names}{more}"
