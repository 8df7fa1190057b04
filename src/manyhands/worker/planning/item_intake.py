"""Decides which requests are accepted. A full queue refuses new requests, and no app can fill it alone."""

import math

from manyhands.worker.planning.planner_book import PlannerBook
from manyhands.worker.planning.planner_state import Hosted
from manyhands.worker.values.planner_values import Item, RefuseItems

RETRY_AFTER_MIN_S = 1.0
RETRY_AFTER_MAX_S = 600.0


def refusal_of(book: PlannerBook, hosted: Hosted | None, items: tuple[Item, ...], at: float) -> RefuseItems | None:
    """Why this request is refused; None if it is accepted. All its items belong to one model and app."""
    model = items[0].model
    if hosted is None:
        return refused(items, f"this worker hosts no model `{model}`")
    longest = max([item.length for item in items])
    if longest > hosted.spec.length_max:
        return refused(items, f"an item has {longest} tokens; `{model}` takes {hosted.spec.length_max}")
    if hosted.not_before > at:
        return refused(items, f"`{model}` does not load: {hosted.trouble}", hosted.not_before - at)
    return too_many(book, hosted, items)


def too_many(book: PlannerBook, hosted: Hosted, items: tuple[Item, ...]) -> RefuseItems | None:
    """Refuse a request that would give its app more of the queue than it leaves free for others.

    One app alone may fill half the queue; two apps may fill a third each.
    """
    app, room = items[0].app, hosted.spec.queue_items_max
    if 2 * len(items) > room:
        return refused(items, f"the request has {len(items)} items; `{hosted.name}` takes {room // 2} per request")
    waiting, of_app = len(hosted.queue), hosted.queue.count_of.get(app, 0)
    too_much = 2 * len(items) + of_app + waiting - room
    if too_much <= 0:
        return None
    # Each of the app's own items that leaves makes room twice: in the queue and in the app's share.
    busy_models = sum(one.has_work for one in book.models.values())
    seconds = hosted.waiting_s * max(1, busy_models) * min(1.0, math.ceil(too_much / 2) / max(1, waiting))
    reason = f"{waiting} items wait for `{hosted.name}`, {of_app} of them from app `{app}`"
    return refused(items, reason, min(RETRY_AFTER_MAX_S, max(RETRY_AFTER_MIN_S, seconds)))


def refused(items: tuple[Item, ...], reason: str, retry_after_s: float | None = None) -> RefuseItems:
    return RefuseItems(tuple(item.id for item in items), reason, retry_after_s)
