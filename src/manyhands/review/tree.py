"""The tasks of a run as a tree: epics and other parents with their children, needs and progress."""

from collections.abc import Iterable, Mapping

from manyhands.core.model import TaskState
from manyhands.core.state import Record
from manyhands.review.model import Node

#: What a parent is called that is no task itself: the first of these that any child is.
_WORST_FIRST = ("running", "failed", "ready", "backoff", "blocked", "deferred", "skipped", "cancelled", "done")


def tree_of(records: Mapping[str, Record]) -> list[Node]:
    """Roots in the order they came. A parent that is no task has a node all the same."""
    nodes = {id: _node(record) for id, record in records.items()}
    roots: list[Node] = []
    for id, record in records.items():
        parent = record.task.parent
        if not parent or parent == id or _is_above(records, id, parent):
            roots.append(nodes[id])
            continue
        if parent not in nodes:
            nodes[parent] = Node(parent, "", "", (), 0, 0, [])
            roots.append(nodes[parent])
        nodes[parent].children.append(nodes[id])
    for root in roots:
        _count(root)
    return roots


def _node(record: Record) -> Node:
    task = record.task
    is_done = record.state is TaskState.DONE
    return Node(task.id, task.title, str(record.state), task.needs, int(is_done), 1, [])


def _is_above(records: Mapping[str, Record], id: str, parent: str) -> bool:
    """Is the task its own ancestor? Then it hangs below none: a circle has no top."""
    seen = set[str]()
    while parent and parent not in seen:
        if parent == id:
            return True
        seen.add(parent)
        parent = records[parent].task.parent if parent in records else ""
    return False


def _count(root: Node) -> None:
    order = [root]
    for node in order:  # grows as it is walked
        order.extend(node.children)
    for node in reversed(order):
        node.done += sum(child.done for child in node.children)
        node.total += sum(child.total for child in node.children)
        if not node.state:
            states = {child.state for child in node.children}
            node.state = next((state for state in _WORST_FIRST if state in states), "")


def tree_lines(roots: Iterable[Node]) -> list[str]:
    """For a terminal: one line a node, indented, with its progress and needs."""
    lines: list[str] = []
    stack = [(node, 0) for node in reversed(list(roots))]
    while stack:
        node, depth = stack.pop()
        progress = f" {node.done}/{node.total}" if node.children else ""
        needs = f"  needs {', '.join(node.needs)}" if node.needs else ""
        title = f"  {node.title}" if node.title else ""
        lines.append(f"{'  ' * depth}{node.id}  {node.state}{progress}{title}{needs}")
        stack.extend((child, depth + 1) for child in reversed(node.children))
    return lines
