"""Which requests are taken in. A full queue pushes back, and no app fills it alone."""

import math

from manyhands.worker.planning.planner_book import PlannerBook
from manyhands.worker.planning.planner_state import Hosted
from manyhands.worker.values.planner_values import Item, RefuseItems

RETRY_AFTER_MIN_S = 1.0
RETRY_AFTER_MAX_S = 600.0


def refusal_of(book: PlannerBook, hosted: Hosted | None, items: tuple[Item, ...], at: float) -> RefuseItems | None:
    """Why this request is not taken in; None: it is. All its items are for one model and app."""
    model = items[0].model
    if hosted is None:
        return refused(items, f"no model `{model}` here")
    longest = max([item.length for item in items])
    if longest > hosted.spec.length_max:
        return refused(items, f"an item has {longest} tokens; `{model}` takes {hosted.spec.length_max}")
    if hosted.not_before > at:
        return refused(items, f"`{model}` does not load: {hosted.trouble}", hosted.not_before - at)
    return too_many(book, hosted, items)


def too_many(book: PlannerBook, hosted: Hosted, items: tuple[Item, ...]) -> RefuseItems | None:
    """An app may have as much waiting as is left free for the others: half the queue for one, a third each for two."""
    app, room = items[0].app, hosted.spec.queue_items_max
    if 2 * len(items) > room:
        return refused(items, f"{len(items)} items at once; `{hosted.name}` takes {room // 2} of one request")
    waiting, of_app = len(hosted.queue), hosted.queue.count_of.get(app, 0)
    too_much = 2 * len(items) + of_app + waiting - room
    if too_much <= 0:
        return None
    # Each of the app's own items that leaves makes room twice: in the queue and in its share.
    busy_models = sum(one.has_work for one in book.models.values())
    seconds = hosted.waiting_s * max(1, busy_models) * min(1.0, math.ceil(too_much / 2) / max(1, waiting))
    reason = f"{waiting} items wait for `{hosted.name}`, {of_app} of them of app `{app}`"
    return refused(items, reason, min(RETRY_AFTER_MAX_S, max(RETRY_AFTER_MIN_S, seconds)))


def refused(items: tuple[Item, ...], reason: str, retry_after_s: float | None = None) -> RefuseItems:
    return RefuseItems(tuple(item.id for item in items), reason, retry_after_s)
