"""The queue of one sink: in order per key through refusals, and next to no effort while the sink is down."""

import random

from manyhands.core.outbox import Delivery
from manyhands.engine.delivery.sink_queue import AT_ONCE_MAX, WAIT_LONGEST_S, SinkQueue


def letter(number: int, order: str) -> Delivery:
    return Delivery(number, "app", "sink", "run", f"t{number}", 1, order, 0.0)


def test_letters_of_one_order_go_one_after_another_whatever_is_refused() -> None:
    for seed in range(200):
        draw = random.Random(seed)
        queue, now = SinkQueue(), 0.0
        orders = {number: f"o{draw.randrange(5)}" for number in range(1, 60)}
        fresh = [letter(number, order) for number, order in orders.items()]
        out: list[Delivery] = []
        taken: list[int] = []
        while fresh or out or queue.next_at() is not None:
            for _ in range(draw.randrange(4)):
                if fresh:
                    queue.add(fresh.pop(0))
            while (one := queue.take(now)) is not None:
                assert all(other.order != one.order for other in out), "never two of one order at once"
                out.append(one)
            assert len(out) == queue.in_flight <= AT_ONCE_MAX
            if out:
                one = out.pop(draw.randrange(len(out)))
                if draw.random() < 0.4:
                    queue.refused(one)
                    queue.again(one, now, draw.choice([0.0, 5.0]))
                else:
                    taken.append(one.number)
                    queue.settled(one, answered=True)
            elif (at := queue.next_at()) is not None:
                now = max(now, at)
        assert sorted(taken) == sorted(orders), "none is left behind"
        for order in set(orders.values()):
            of_order = [number for number in taken if orders[number] == order]
            assert of_order == sorted(of_order)


def test_a_sink_that_is_down_is_asked_once_a_minute_however_many_wait() -> None:
    queue, now = SinkQueue(), 0.0
    for number in range(1, 10_001):
        queue.add(letter(number, str(number)))
    asked: list[tuple[float, int]] = []
    while now < 3600.0:
        out = []
        while (one := queue.take(now)) is not None:
            out.append(one)
        for one in out:
            asked.append((now, one.number))
            queue.refused(one)
            queue.again(one, now, 0.0)
        at = queue.next_at()
        assert at is not None
        now = max(at, now)
    late = [number for at, number in asked if at > 600.0]
    assert len(asked) < 16 + 1 + 100
    assert len(late) <= 3000 / WAIT_LONGEST_S + 1
    assert len(set(late)) == len(late), "each time another letter: one that is poison does not keep it down"


def test_it_is_up_again_with_the_first_that_is_taken() -> None:
    queue = SinkQueue()
    for number in range(1, 101):
        queue.add(letter(number, str(number)))
    for _ in range(AT_ONCE_MAX + 1):
        one = queue.take(0.0)
        assert one is not None
        queue.refused(one)
        queue.again(one, 0.0, 0.0)
    assert queue.take(0.0) is None, "it rests"
    at = queue.next_at()
    assert at is not None
    one = queue.take(at)
    assert one is not None
    assert queue.take(at) is None, "one alone tries whether it is back"
    queue.settled(one, answered=True)
    assert len([1 for _ in range(AT_ONCE_MAX + 1) if queue.take(at)]) == AT_ONCE_MAX
