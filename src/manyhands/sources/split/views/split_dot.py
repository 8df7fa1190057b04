"""The tree for Graphviz, with the heaviest ties that it cuts as dashed lines."""

import json

from manyhands.sources.split.cuts import cut_between_leaves
from manyhands.sources.split.split_types import Source, Tree

#: More lines would make the picture unreadable.
CUT_LINES_MAX = 100


def tree_as_dot(tree: Tree, source: Source) -> str:
    lines = ["digraph split {", "  rankdir=LR;", '  node [shape=box, fontname="sans-serif"];']
    for node in tree.nodes:
        shape = ", style=rounded" if node.children else ""
        label = _quoted(f"{node.name}\n{node.tokens:,} tokens")
        lines.append(f"  {_quoted(node.id)} [label={label}{shape}];")
        lines.extend(f"  {_quoted(node.id)} -> {_quoted(child)};" for child in node.children)
    cuts = cut_between_leaves(tree, source)
    lines.append(
        f"  // the {min(len(cuts), CUT_LINES_MAX)} heaviest of {len(cuts)} pairs of leaves with ties between them"
    )
    for one, other, weight in cuts[:CUT_LINES_MAX]:
        label = f'dir=none, style=dashed, constraint=false, color="#999999", tooltip="{weight}"'
        lines.append(f"  {_quoted(one)} -> {_quoted(other)} [{label}];")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
