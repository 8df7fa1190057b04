"""A tree as JSON: `--output json` prints it, and a correction starts from it."""

from pathlib import Path

import msgspec
from msgspec import Struct

from manyhands.errors import UsageError
from manyhands.sources.split.split_figures import SplitFigures, figures_of
from manyhands.sources.split.split_types import Range, SplitSettings, Subplan, Tree


class _NodeRow(Struct, forbid_unknown_fields=True):
    id: str
    name: str = ""
    parent: str | None = None
    children: list[str] = []
    files: list[str] = []
    ranges: list[Range] = []
    tokens: int = 0
    depth: int = 0
    strategy: str = ""
    reason: str = ""
    cut: float = 0.0


class _TreeFile(Struct):
    root: str
    nodes: list[_NodeRow]
    settings: SplitSettings = SplitSettings()
    notes: list[str] = []
    figures: SplitFigures | None = None


def tree_as_json(tree: Tree) -> bytes:
    rows = [_NodeRow(**{field: getattr(node, field) for field in _NodeRow.__struct_fields__}) for node in tree.nodes]
    document = _TreeFile(tree.root, rows, tree.settings, list(tree.notes), figures_of(tree))
    return msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n"


def read_tree(file: Path) -> Tree:
    """Read a tree that may have been edited. Links must be valid and no file in two leaves; the rest is fixed."""
    try:
        document = msgspec.json.decode(file.read_bytes(), type=_TreeFile)
    except OSError as error:
        raise UsageError(f"tree `{file}` cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"`{file}` is not a tree: {error}", "make one with `manyhands split PATH --output json`"
        ) from None
    nodes = {
        row.id: Subplan(
            id=row.id,
            name=row.name,
            parent=row.parent,
            children=tuple(row.children),
            files=tuple(row.files),
            ranges=tuple(row.ranges),
            tokens=row.tokens,
            depth=row.depth,
            strategy=row.strategy,
            reason=row.reason,
            cut=row.cut,
        )
        for row in document.nodes
    }
    problem = _problem(document, nodes)
    if problem:
        raise UsageError(f"tree `{file}`: {problem}", "undo the edit, or split again without --correct")
    return Tree(
        root=document.root, settings=document.settings, nodes=tuple(nodes.values()), notes=tuple(document.notes)
    )


def _problem(document: _TreeFile, nodes: dict[str, Subplan]) -> str:
    if len(nodes) < len(document.nodes):
        return "two nodes have the same id"
    if document.root not in nodes:
        return f"the root `{document.root}` is not among the nodes"
    seen: set[str] = set()
    leaf_of: dict[str, str] = {}
    waiting = [document.root]
    while waiting:
        id = waiting.pop()
        if id not in nodes:
            return f"the child `{id}` is not among the nodes"
        if id in seen:
            return f"the node `{id}` is the child of two nodes"
        seen.add(id)
        node = nodes[id]
        waiting.extend(node.children)
        for name in node.files:
            if leaf_of.setdefault(name, id) != id and not node.ranges:
                return f"the file `{name}` is in `{leaf_of[name]}` and in `{id}`"
    lost = sorted(set(nodes) - seen)
    return f"the node `{lost[0]}` is not the child of any node" if lost else ""
