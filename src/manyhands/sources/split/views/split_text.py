"""The tree as indented lines."""

from manyhands.quantities import quantity
from manyhands.sources.split.split_figures import figures_of
from manyhands.sources.split.split_types import Subplan, Tree


def tree_as_text(tree: Tree) -> str:
    nodes = tree.by_id()
    lines: list[str] = []
    waiting: list[tuple[str, str, str]] = [(tree.root, "", "")]
    while waiting:
        id, before, branch = waiting.pop()
        node = nodes[id]
        lines.append(f"{before}{branch}{_line(node, tree.settings.budget_tokens)}")
        below = before + {"": "", "├─ ": "│  ", "└─ ": "   "}[branch]
        last = len(node.children) - 1
        for place, child in reversed(list(enumerate(node.children))):
            waiting.append((child, below, "└─ " if place == last else "├─ "))
    return "\n".join([*lines, summary(tree)]) + "\n"


def _line(node: Subplan, budget_tokens: int) -> str:
    if node.children:
        return f"{node.name}  {node.tokens:,} tokens · {node.strategy} · cut {node.cut:.0%} · {node.id}"
    what = quantity(len(node.files), "file")
    if node.ranges:
        what = f"lines {node.ranges[0].first_line}-{node.ranges[0].last_line}"
    warning = "" if node.tokens <= budget_tokens else f" · {node.reason}"
    return f"{node.name}  {node.tokens:,} tokens · {what} · {node.id}{warning}"


def summary(tree: Tree) -> str:
    figures = figures_of(tree)
    leaves = quantity(figures.leaves, "leaf", "leaves")
    return (
        f"{quantity(figures.files, 'file')} · {figures.tokens:,} tokens (bytes / 4) · {leaves}"
        f" (at least {figures.leaves_min:,}) · depth {figures.depth} · size CV {figures.size_cv:.2f}"
        f" · over budget {figures.over_budget}"
    )
