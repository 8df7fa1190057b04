"""Which item's turn it is, and which items join its batch."""

from itertools import count

from manyhands.worker.memory.activation import ActivationMemory
from manyhands.worker.packing.batch_limits import BatchLimits
from manyhands.worker.packing.bounds import MemoryBounds
from manyhands.worker.packing.fairness import FLOWS_MAX, FairClock
from manyhands.worker.packing.item_queue import ItemQueue
from manyhands.worker.values.planner_values import Growth, Item, ModelSpec

SECONDS = Growth(0.001, 0.0001)
BYTES = Growth(0.0, 1000.0)  # a token takes 1,000 bytes
ids = count()


def limits(room_tokens: int = 4096, seconds_max: float = 100.0, items_max: int = 1024) -> BatchLimits:
    spec = ModelSpec("m", 0, BYTES, batch_seconds_max=seconds_max, batch_items_max=items_max)
    return BatchLimits(spec, ActivationMemory(BYTES), MemoryBounds(), SECONDS, room_tokens * 1000)


def add(queue: ItemQueue, lengths: list[int], app: str = "", weight: float = 1.0, priority: int = 2) -> None:
    for length in lengths:
        queue.add([Item(next(ids), "m", length, app, priority)], weight)


def lengths_of(queue: ItemQueue, at: BatchLimits, past_held: bool = False) -> list[int]:
    return [one.length for one in queue.take(at, past_held)]


def drain(queue: ItemQueue, at: BatchLimits) -> list[list[str]]:
    """The apps of each batch, in order."""
    batches = []
    while taken := queue.take(at):
        batches.append([one.item.app for one in taken])
    return batches


def test_the_batch_with_the_oldest_item_goes_first_with_its_like() -> None:
    queue = ItemQueue()
    add(queue, [200, 10, 11, 12, 201, 9])
    assert lengths_of(queue, limits()) == [200, 201]
    assert lengths_of(queue, limits()) == [9, 10, 11, 12]
    assert lengths_of(queue, limits()) == []
    assert (len(queue), queue.tokens, queue.tokens_squared, queue.count_of) == (0, 0, 0, {})


def test_a_batch_stays_within_the_memory() -> None:
    queue = ItemQueue()
    add(queue, [100] * 10)
    assert lengths_of(queue, limits(room_tokens=350)) == [100] * 3


def test_a_batch_stays_within_the_latency_bound_unless_one_item_does_not() -> None:
    queue = ItemQueue()
    add(queue, [100] * 10)
    assert lengths_of(queue, limits(seconds_max=0.035)) == [100] * 3
    assert lengths_of(queue, limits(seconds_max=0.0001)) == [100]


def test_a_plan_made_with_more_room_is_not_used_with_less() -> None:
    queue = ItemQueue()
    add(queue, [100] * 40)
    assert len(lengths_of(queue, limits(room_tokens=1000))) == 10
    assert len(lengths_of(queue, limits(room_tokens=300))) == 3
    roomy = limits(room_tokens=2000)
    assert len(lengths_of(queue, roomy)) + len(lengths_of(queue, roomy)) == 27


def test_an_item_that_does_not_fit_keeps_its_turn() -> None:
    queue = ItemQueue()
    add(queue, [500, 10, 10])
    assert lengths_of(queue, limits(room_tokens=100)) == []
    assert queue.held is not None
    assert queue.held.length == 500
    assert lengths_of(queue, limits(room_tokens=100), past_held=True) == [10, 10]
    assert lengths_of(queue, limits(room_tokens=600)) == [500]


def test_a_flood_of_one_app_does_not_hold_up_another() -> None:
    queue = ItemQueue()
    add(queue, [50] * 3000, "flood")
    for _ in range(20):
        queue.take(limits(items_max=32))
    add(queue, [50] * 10, "small")
    batches = drain(queue, limits(items_max=32))
    before = next(index for index, apps in enumerate(batches) if "small" in apps)
    assert before <= 1024 / 4 / 32 + 1  # it waits at most until a new plan is made
    done = next(index for index in range(len(batches)) if sum(b.count("small") for b in batches[: index + 1]) == 10)
    assert done <= before + 2


def test_apps_share_by_weight_while_all_have_work() -> None:
    queue = ItemQueue(window=64)
    for _ in range(600):
        add(queue, [20], "heavy", weight=3.0)
        add(queue, [20], "light")
    taken: list[str] = []
    for _ in range(20):
        taken += [one.item.app for one in queue.take(limits(items_max=16))]
    assert 2.5 <= taken.count("heavy") / taken.count("light") <= 3.5


def test_more_important_items_get_a_larger_share_and_none_starves() -> None:
    queue = ItemQueue(window=32)
    add(queue, [20] * 400, priority=4)
    add(queue, [20] * 400, priority=0)
    taken: list[int] = []
    for _ in range(25):
        taken += [one.item.priority for one in queue.take(limits(items_max=16))]
    assert taken.count(0) > 5 * taken.count(4) > 0


def test_a_cancelled_item_is_not_taken() -> None:
    queue = ItemQueue()
    add(queue, [10, 11, 12])
    first = next(iter(queue.waiting))
    queue.remove(first)
    assert lengths_of(queue, limits()) == [11, 12]


def test_what_is_put_back_is_taken_once_and_first() -> None:
    queue = ItemQueue()
    add(queue, [100] * 8)
    taken = queue.take(limits(room_tokens=400))
    add(queue, [100] * 8)
    for one in taken:
        queue.put_back(one)
    assert queue.take(limits(room_tokens=400)) == taken
    rest = 0
    while batch := queue.take(limits()):
        rest += len(batch)
    assert rest == 12


def test_many_apps_at_once_keep_their_places() -> None:
    clock = FairClock()
    apps = range(3 * FLOWS_MAX)
    assert [clock.place(app, 10.0, 1.0) for app in apps] == [0.0 for _ in apps]
    assert [clock.place(app, 10.0, 1.0) for app in apps] == [10.0 for _ in apps]
    clock.advance(20.0)
    assert clock.place("late", 10.0, 1.0) == 20.0


def test_a_bound_holds_for_its_length_until_there_is_plainly_more_room() -> None:
    bounds = MemoryBounds()
    bounds.remember(count=32, length=256, room_bytes=1000)
    assert bounds.count_max(256, 1000) == 16
    assert bounds.count_max(512, 1000) == 8
    assert bounds.count_max(100, 1000) is None
    assert bounds.count_max(256, 2000) is None
    bounds.remember(count=1, length=256, room_bytes=1000)
    assert bounds.count_max(256, 1000) == 1
