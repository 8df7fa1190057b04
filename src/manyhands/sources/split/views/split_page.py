"""The tree as one self-contained page: an icicle chart with sizes, and below it the ties that the leaves cut."""

from importlib.resources import files

import msgspec

from manyhands.sources.split.cuts import cut_between_leaves
from manyhands.sources.split.split_types import Source, Tree
from manyhands.sources.split.views.split_text import summary

#: More arcs could not be distinguished. The page gives the total number.
ARCS_MAX = 300


def tree_as_page(tree: Tree, source: Source, title: str) -> str:
    cuts = cut_between_leaves(tree, source)
    document = {
        "title": title,
        "summary": summary(tree),
        "notes": tree.notes,
        "root": tree.root,
        "budget": tree.settings.budget_tokens,
        "nodes": [msgspec.to_builtins(node) for node in tree.nodes],
        "cuts": cuts[:ARCS_MAX],
        "cuts_total": len(cuts),
    }
    # `<` would let a file name end the script.
    text = msgspec.json.encode(document).decode().replace("<", "\\u003c")
    page = files("manyhands.sources.split.views").joinpath("icicle.html").read_text(encoding="utf-8")
    return page.replace("/*TREE*/", text)
