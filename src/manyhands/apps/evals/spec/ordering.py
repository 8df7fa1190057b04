"""The order of trials: which arm is first in each (case, replication), and which sessions start together.

The order follows from the spec and its seed alone, so that an interrupted eval continues in the order it began in.
"""

import random
from collections.abc import Sequence
from typing import NamedTuple

from manyhands.apps.evals.spec.eval_types import Spec


class Trial(NamedTuple):
    """One arm on one case in one replication."""

    arm: str
    case: str
    replication: int  # from 1


def trials_of(spec: Spec) -> list[Trial]:
    return [
        Trial(arm.name, case.name, number)
        for arm in spec.arms
        for case in spec.cases
        for number in range(1, spec.replications + 1)
    ]


class Unit(NamedTuple):
    """Trials that are compared with each other, in the order in which their sessions take turns."""

    trials: tuple[Trial, ...]


def units_of(spec: Spec) -> list[Unit]:
    """Replication by replication, so that an eval that is cut short has few cases without a partner.

    An eval that may stop when it is decided runs case by case, so that it has whole cases by then.
    """
    arms = [arm.name for arm in spec.arms]
    cases = [case.name for case in spec.cases]
    replications = range(1, spec.replications + 1)
    if not spec.interleave:
        return [Unit((Trial(arm, case, number),)) for arm in arms for number in replications for case in cases]
    orders = (_swapped if spec.order == "swap" else _drawn)(arms, cases, spec.replications, spec.seed)
    pairs = [(case, number) for number in replications for case in cases]
    if spec.stop_when_decided:
        pairs.sort(key=lambda pair: cases.index(pair[0]))
    return [Unit(tuple(Trial(arm, case, number) for arm in orders[case, number])) for case, number in pairs]


Orders = dict[tuple[str, int], list[str]]


def _swapped(arms: Sequence[str], cases: Sequence[str], replications: int, seed: int) -> Orders:
    """Strictly in turn: the first replication has the order of the spec, the second begins with the next arm."""
    return {
        (case, number): _rotated(arms, number - 1 + place)
        for place, case in enumerate(cases)
        for number in range(1, replications + 1)
    }


def _drawn(arms: Sequence[str], cases: Sequence[str], replications: int, seed: int) -> Orders:
    """Drawn and balanced. A block has as many replications as there are arms, and each arm has each place once in it.

    The replications of a case that are left after its whole blocks are balanced over the cases.
    """
    size = len(arms)
    whole = replications - replications % size
    orders: Orders = {}
    for case in cases:
        for first in range(1, whole + 1, size):
            draw = random.Random(f"{seed}:{case}:{first}")
            ring = draw.sample(arms, size)
            for number, turn in enumerate(draw.sample(range(size), size), first):
                orders[case, number] = _rotated(ring, turn)
    draw = random.Random(f"{seed}:rest")
    turn = draw.randrange(size)
    for case in draw.sample(cases, len(cases)):
        # The same ring for all: rotations of different rings would not balance.
        for number in range(whole + 1, replications + 1):
            orders[case, number] = _rotated(arms, turn)
            turn += 1
    return orders


def _rotated(arms: Sequence[str], turn: int) -> list[str]:
    turn %= len(arms)
    return [*arms[turn:], *arms[:turn]]
