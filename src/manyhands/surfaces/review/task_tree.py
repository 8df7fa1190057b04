"""The tasks of a run as a tree: epics and other parents with their children, needs and progress."""

from collections.abc import Iterable, Iterator, Mapping

from manyhands.core.state import Record
from manyhands.core.values.about import About
from manyhands.core.values.ending import total_cost
from manyhands.core.values.provenance import Origin
from manyhands.core.values.task import TaskState
from manyhands.surfaces.review.review_types import TaskTreeNode

DEPTH_MAX = 100
#: The state of a parent that is not a task: the first of these that a child has.
WORST_FIRST = (
    *("running", "needs_person", "failed", "ready", "backoff"),
    *("blocked", "deferred", "skipped", "cancelled", "done"),
)


def tree_of(records: Mapping[str, Record], epics: Mapping[str, About] | None = None) -> list[TaskTreeNode]:
    """The roots in the order they came. A parent that is not a task has a node too."""
    nodes = {id: _node(record) for id, record in records.items()}
    roots: list[TaskTreeNode] = []
    circular = _in_circles(records)
    for id, record in records.items():
        parent = record.task.parent
        if not parent or id in circular:
            roots.append(nodes[id])
            continue
        if parent not in nodes:
            title = (epics or {}).get(parent, About()).title
            nodes[parent] = TaskTreeNode(parent, title, "", (), 0, 0, [], is_task=False)
            roots.append(nodes[parent])
        nodes[parent].children.append(nodes[id])
    _flatten(roots)
    for root in roots:
        _count(root)
    return roots


def walk(roots: Iterable[TaskTreeNode]) -> Iterator[TaskTreeNode]:
    """Every node, parents first."""
    stack = list(roots)[::-1]
    while stack:
        node = stack.pop()
        stack.extend(reversed(node.children))
        yield node


def _flatten(roots: list[TaskTreeNode]) -> None:
    """Nodes deeper than anyone reads, or than JSON parsers can bear, become siblings."""
    level = roots
    for _ in range(DEPTH_MAX):
        level = [child for node in level for child in node.children]
    for node in level:
        below = node.children = list(walk(node.children))
        for one in below:
            one.children = []


def _node(record: Record) -> TaskTreeNode:
    task = record.task
    is_done = record.state is TaskState.DONE
    # The steps of a family are shown below it, but they are not members that someone wanted done.
    counts = record.origin is not Origin.STEP
    tried = [one for one in record.history or () if one.ended_at is not None]
    spent_s = sum(one.ended_at - one.started_at for one in tried if one.ended_at is not None)
    tokens = sum(one.ending.tokens_in + one.ending.tokens_out for one in tried if one.ending is not None)
    cost = total_cost(one.ending.cost for one in tried if one.ending is not None)
    return TaskTreeNode(
        task.id,
        task.title,
        str(record.state),
        task.needs,
        int(is_done and counts),
        int(counts),
        [],
        spent_s,
        tokens,
        cost,
    )


def _in_circles(records: Mapping[str, Record]) -> set[str]:
    """Tasks that are their own ancestors. They become roots, because a circle has no top."""
    circular = set[str]()
    seen = set[str]()
    for id in records:
        path: dict[str, None] = {}
        while id in records and id not in seen:
            seen.add(id)
            path[id] = None
            id = records[id].task.parent
        if id in path:
            ids = list(path)
            circular.update(ids[ids.index(id) :])
    return circular


def _count(root: TaskTreeNode) -> None:
    order = [root]
    for node in order:  # grows as it is walked
        order.extend(node.children)
    for node in reversed(order):
        node.done += sum(child.done for child in node.children)
        node.total += sum(child.total for child in node.children)
        node.spent_s += sum(child.spent_s for child in node.children)
        node.tokens += sum(child.tokens for child in node.children)
        node.cost = total_cost((node.cost, *(child.cost for child in node.children)))
        if not node.state:
            states = {child.state for child in node.children}
            node.state = next((state for state in WORST_FIRST if state in states), "")


def tree_lines(roots: Iterable[TaskTreeNode]) -> list[str]:
    """For a terminal: one indented line for each node, with its progress and needs.

    A parent that is not a task goes by its title, if it has one: nothing can be done with its id.
    """
    lines: list[str] = []
    stack = [(node, 0) for node in reversed(list(roots))]
    while stack:
        node, depth = stack.pop()
        progress = f" {node.done}/{node.total}" if node.children and node.total else ""
        needs = f"  needs {', '.join(node.needs)}" if node.needs else ""
        title = " ".join(node.title.split())
        name, title = (node.id, title) if node.is_task or not title else (title, "")
        lines.append(
            "  " * depth + "  ".join(part for part in (name, f"{node.state}{progress}", title) if part) + needs
        )
        stack.extend((child, depth + 1) for child in reversed(node.children))
    return lines
