"""Where on a Ray cluster an attempt may run: what its task asks for in Ray's terms, and which node is next.

This module is pure. Ray itself places attempts that ask for resources and reserves them. The others are spread here.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import TypeVar

from msgspec import Struct

from manyhands.core.values.task import Task

#: Labels of a task that are meant for its node: `node:region=eu`.
NODE_LABEL = "node:"
_OURS = {"cpus": ("CPU", 1.0), "gpus": ("GPU", 1.0), "memory_gb": ("memory", 1e9)}
#: With up to this many more in flight, waiting is faster than loading the model elsewhere.
_WORTH_A_LOAD = 8
_LIST = re.compile(r"in\((.*)\)")


class RayNode(Struct, frozen=True):
    id: str
    labels: dict[str, str]
    resources: dict[str, float]


class WorkerSeat(Struct, frozen=True, order=True):
    """Where a model worker can be: on one GPU of a node, or on a node without GPUs."""

    node: str
    number: int
    gpus: int  # 0 or 1


#: Where a worker is: a seat, or the number of a worker that Ray has placed.
Post = TypeVar("Post", WorkerSeat, int)


class WorkerStanding(Struct, frozen=True):
    """What is known about the worker there."""

    in_flight: int
    models: tuple[str, ...] = ()  # models in its memory
    room_bytes: float = math.inf  # for more models; unlimited for a worker that has not started


def seats(nodes: Sequence[RayNode], selectors: Mapping[str, str]) -> list[WorkerSeat]:
    """One for each GPU, or one for each node if no node has a GPU."""
    able = [node for node in nodes if matches(node.labels, selectors)]
    on_gpus = [WorkerSeat(node.id, n, 1) for node in able for n in range(int(node.resources.get("GPU", 0)))]
    return on_gpus or [WorkerSeat(node.id, 0, 0) for node in able if node.resources.get("CPU", 0.0) > 0]


def route(model: str, standing: Mapping[Post, WorkerStanding], worth_a_load: int = _WORTH_A_LOAD) -> Post | None:
    """A worker that has the model, unless others have far less to do; otherwise the one with the most free memory."""
    if not standing:
        return None
    least = min(one.in_flight for one in standing.values())
    having = [post for post, one in standing.items() if model in one.models and one.in_flight <= least + worth_a_load]
    if having:
        return min(having, key=lambda post: (standing[post].in_flight, post))
    # A busy worker without the model is the last choice.
    return min(standing, key=lambda post: (-standing[post].room_bytes, standing[post].in_flight, post))


def resources_of(task: Task) -> dict[str, float]:
    return in_words_of_ray(task.resources or {})


def in_words_of_ray(resources: Mapping[str, float]) -> dict[str, float]:
    """`cpus`, `gpus` and `memory_gb` under Ray's names; any other is a custom resource of the cluster."""
    asked: dict[str, float] = {}
    for name, amount in resources.items():
        known, factor = _OURS.get(name, (name, 1.0))
        if amount > 0:
            asked[known] = amount * factor
    return asked


def labels_of(task: Task) -> dict[str, str]:
    """The selectors among the task's labels, in Ray's own forms: `value`, `!value`, `in(a,b)`, `!in(a,b)`."""
    wanted = (label.removeprefix(NODE_LABEL) for label in task.labels if label.startswith(NODE_LABEL))
    return {key.strip(): value.strip() for key, _, value in (one.partition("=") for one in wanted)}


def matches(labels: Mapping[str, str], selectors: Mapping[str, str]) -> bool:
    return all(_fits(labels.get(key), selector) for key, selector in selectors.items())


def pick(nodes: Sequence[RayNode], selectors: Mapping[str, str], in_flight: Mapping[str, int]) -> RayNode | None:
    """The node with the fewest attempts per core. A node without cores (for example a head) takes none."""
    able = [node for node in nodes if node.resources.get("CPU", 0.0) > 0 and matches(node.labels, selectors)]
    return min(able, key=lambda node: ((in_flight.get(node.id, 0) + 1) / node.resources["CPU"], node.id), default=None)


def _fits(value: str | None, selector: str) -> bool:
    negated, wanted = selector.startswith("!"), selector.removeprefix("!")
    listed = _LIST.fullmatch(wanted)
    among = [one.strip() for one in listed[1].split(",")] if listed else [wanted]
    return (value in among) is not negated
