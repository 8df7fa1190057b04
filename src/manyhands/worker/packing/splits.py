"""The cheapest way to cut items sorted by length into batches: an exact dynamic program in O(n log n).

A batch is a run of neighbours, padded to its longest item. `best[i]` is the cost of the first i items:
best[j] = min over i of best[i] + overhead + (j − i)·per_item[j-1], within the bounds of a batch.
"""

from bisect import bisect_left
from collections.abc import Sequence


def cheapest_cuts(per_item: Sequence[float], overhead: float, count_max: Sequence[int]) -> list[int]:
    """The ends of the batches. The last end is the number of items.

    Args:
        per_item: what each item costs in a batch padded to *its* length. The values never fall.
        overhead: what each batch costs in addition.
        count_max: for each item, how many items a batch padded to its length may have; at least 1.
    """
    count = len(per_item)
    if count == 0:
        return []
    expires_at = expiries(count_max)
    best, cut_before = [0.0], [0]
    # `starts` can still be the best for some end, and `since` holds the first such end of each. Once a later start
    # beats an earlier one, it beats it for all later ends: items grow longer, so each extra item costs more.
    starts, since = [0], [1]
    head = 0
    for end, price in enumerate(per_item, 1):
        while head + 1 < len(starts) and since[head + 1] <= end:
            head += 1
        start = starts[head]
        cost = best[start] + overhead + (end - start) * price
        best.append(cost)
        cut_before.append(start)
        while True:
            last = starts[-1]
            # The first end for which starting here costs at most as much as starting at `last`, or `last` is too far.
            beats_at = bisect_left(per_item, (cost - best[last]) / (end - last), end) + 1
            if beats_at > expires_at[last]:
                beats_at = max(end + 1, expires_at[last])
            if len(starts) - 1 <= head or beats_at > since[-1]:
                break
            starts.pop()
            since.pop()
        if beats_at <= count:
            starts.append(end)
            since.append(beats_at)
    cuts = []
    end = count
    while end > 0:
        cuts.append(end)
        end = cut_before[end]
    cuts.reverse()
    return cuts


def expiries(count_max: Sequence[int]) -> list[int]:
    """For each start, the first end that is too far from it."""
    count = len(count_max)
    expires_at = [count + 1] * (count + 1)
    begin = 0
    for end in range(1, count + 1):
        earliest = end - max(1, count_max[end - 1])
        while begin < earliest:
            expires_at[begin] = end
            begin += 1
    return expires_at
