"""The order in which a scheduler would start tasks, for people who look before anything runs."""

from collections.abc import Sequence

from manyhands.core.events import RunOpened, TasksSubmitted
from manyhands.core.ready import Group, ReadySet
from manyhands.core.scheduler import Scheduler
from manyhands.core.values.task import Task


def starting_order(tasks: Sequence[Task]) -> list[Task]:
    """The ready ones of these tasks. A scheduler without hosts takes them, and its queue is read from the front."""
    scheduler = Scheduler()
    scheduler.handle([RunOpened(0.0, "order"), TasksSubmitted(0.0, "order", tuple(tasks))])
    ready = scheduler.book.ready
    order: list[Task] = []
    while (group := _first(ready)) is not None:
        order.append(ready.take_head(group).task)
    return order


def _first(ready: ReadySet) -> Group | None:
    heads = [group for pool in ready.pools.values() if (group := ready.peek(pool)) is not None]
    return min(heads, key=ready.order_of, default=None)
