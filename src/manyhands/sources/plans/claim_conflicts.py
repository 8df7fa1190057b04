"""Which of many claims exclude each other."""

import math

from manyhands.core.claims import Holdings, conflict
from manyhands.core.values.task import Claims


def conflicts_among(distinct: list[Claims], pairs_max: float = math.inf) -> tuple[list[dict[int, None]], bool]:
    """For each of the claims those that conflict with it, itself included if two holders of it would.

    And whether that is all of them, or `pairs_max` put an end to it.
    """
    holdings = Holdings()
    for place, claims in enumerate(distinct):
        holdings.take(place, claims)
    found: list[dict[int, None]] = []
    pairs = 0
    for place, claims in enumerate(distinct):
        met: dict[int, None] = {}
        if claims.write or (claims.append and claims.read and conflict(claims, claims)):
            met[place] = None
        for other in holdings.conflicts(claims) if pairs < pairs_max else ():
            met[other] = None
            pairs += 1
            if pairs >= pairs_max:
                break
        found.append(met)
    return found, pairs < pairs_max
