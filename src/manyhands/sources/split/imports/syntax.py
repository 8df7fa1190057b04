"""Small steps over tree-sitter syntax trees."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node


def walk(root: "Node") -> Iterator["Node"]:
    """Every named node, parents first. It does not recurse, because generated code nests too deeply."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.named_children))


def text_of(node: "Node") -> str:
    return (node.text or b"").decode(errors="replace")
