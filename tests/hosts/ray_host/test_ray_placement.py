"""Which node an attempt goes to, and which model worker a prompt: decided by pure functions."""

from manyhands.core.values.task import Task
from manyhands.hosts.ray.node_placement import (
    RayNode,
    WorkerSeat,
    WorkerStanding,
    labels_of,
    matches,
    pick,
    resources_of,
    route,
    seats,
)

HEAD = RayNode("head", {}, {"memory": 1e9})
SMALL = RayNode("small", {"kind": "cpu"}, {"CPU": 2.0})
LARGE = RayNode("large", {"kind": "gpu"}, {"CPU": 8.0, "GPU": 2.0})


def test_what_a_task_asks_for_is_said_in_the_words_of_ray() -> None:
    task = Task("t", resources={"cpus": 2, "gpus": 0.5, "memory_gb": 4, "tape": 1, "none": 0})
    assert resources_of(task) == {"CPU": 2, "GPU": 0.5, "memory": 4e9, "tape": 1}


def test_only_labels_for_the_node_choose_it() -> None:
    assert labels_of(Task("t", labels=("urgent", "node:region=eu", "node: zone = in(a, b)"))) == {
        "region": "eu",
        "zone": "in(a, b)",
    }


def test_selectors_have_the_forms_that_ray_has() -> None:
    labels = {"zone": "a"}
    assert matches(labels, {"zone": "in(a, b)"})
    assert not matches(labels, {"zone": "!a"})
    assert matches(labels, {"zone": "!in(b,c)"})
    assert not matches({}, {"zone": "a"})
    assert matches({}, {"zone": "!a"})


def test_attempts_are_spread_by_the_cores_of_the_nodes_and_never_to_one_without() -> None:
    in_flight: dict[str, int] = {}
    for _ in range(10):
        node = pick([HEAD, SMALL, LARGE], {}, in_flight)
        assert node is not None
        in_flight[node.id] = in_flight.get(node.id, 0) + 1
    assert in_flight == {"small": 2, "large": 8}
    assert pick([HEAD], {}, {}) is None
    assert pick([SMALL, LARGE], {"kind": "tape"}, {}) is None


def test_a_model_worker_has_a_gpu_to_itself_or_where_there_is_none_a_node() -> None:
    assert seats([HEAD, SMALL, LARGE], {}) == [WorkerSeat("large", 0, 1), WorkerSeat("large", 1, 1)]
    assert seats([HEAD, SMALL], {}) == [WorkerSeat("small", 0, 0)]


def test_prompts_go_to_a_worker_that_has_the_model_unless_it_has_far_more_to_do() -> None:
    one, other = WorkerSeat("n", 0, 1), WorkerSeat("n", 1, 1)
    assert route("m", {one: WorkerStanding(5, ("m",), 0.0), other: WorkerStanding(0, (), 9e9)}) == one
    assert route("m", {one: WorkerStanding(50, ("m",), 0.0), other: WorkerStanding(0, (), 9e9)}) == other
    assert route("m", {one: WorkerStanding(3, ("m",)), other: WorkerStanding(1, ("m",))}) == other


def test_a_model_that_nobody_has_is_loaded_where_most_memory_is_free() -> None:
    one, other = WorkerSeat("n", 0, 1), WorkerSeat("n", 1, 1)
    assert route("m", {one: WorkerStanding(0, ("a",), 2e9), other: WorkerStanding(1, ("b",), 8e9)}) == other
    assert (
        route("m", {one: WorkerStanding(0, ("a",), 2e9), other: WorkerStanding(0)}) == other
    )  # not started yet: all is free
    assert route("m", {}) is None
