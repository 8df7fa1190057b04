"""Which requests are taken in. A full queue pushes back, and no app fills it alone."""

import math

from manyhands.models.model import Item, RefuseItems
from manyhands.models.planning.state import Hosted

RETRY_AFTER_MIN_S = 1.0
RETRY_AFTER_MAX_S = 600.0


def refusal_of(hosted: Hosted | None, items: tuple[Item, ...], at: float, busy_models: int) -> RefuseItems | None:
    """Why this request is not taken in; None: it is. All its items are for one model and app."""
    ids = tuple(item.id for item in items)
    first = items[0]
    if hosted is None:
        return RefuseItems(ids, f"no model `{first.model}` here", None)
    longest = max(item.length for item in items)
    if longest > hosted.spec.length_max:
        limit = hosted.spec.length_max
        return RefuseItems(ids, f"an item has {longest} tokens; `{first.model}` takes {limit}", None)
    if hosted.not_before > at:
        return RefuseItems(ids, f"`{first.model}` does not load: {hosted.trouble}", hosted.not_before - at)
    return too_many(hosted, items, ids, busy_models)


def too_many(hosted: Hosted, items: tuple[Item, ...], ids: tuple[int, ...], busy_models: int) -> RefuseItems | None:
    """An app may have as much waiting as is left free for the others: half the queue for one, a third each for two."""
    app, room = items[0].app, hosted.spec.queue_items_max
    if 2 * len(items) > room:
        return RefuseItems(ids, f"{len(items)} items at once; `{hosted.name}` takes {room // 2} of one request", None)
    waiting, of_app = len(hosted.queue), hosted.queue.count_of.get(app, 0)
    too_much = 2 * len(items) + of_app + waiting - room
    if too_much <= 0:
        return None
    # Each of the app's own items that leaves makes room twice: in the queue and in its share.
    seconds = hosted.waiting_s * max(1, busy_models) * min(1.0, math.ceil(too_much / 2) / max(1, waiting))
    retry_after_s = min(RETRY_AFTER_MAX_S, max(RETRY_AFTER_MIN_S, seconds))
    return RefuseItems(ids, f"{waiting} items wait for `{hosted.name}`, {of_app} of them of app `{app}`", retry_after_s)
