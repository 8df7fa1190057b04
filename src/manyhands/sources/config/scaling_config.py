"""A `[hosts.NAME.scaling]` table becomes what a ray host says of its model workers, or every reason why it cannot."""

import math
from typing import Any

import msgspec
from msgspec import Struct

from manyhands.readers.durations import DURATION_HINT, parse_duration
from manyhands.readers.name_rules import check_amounts
from manyhands.readers.problems import FieldPath, Sheet
from manyhands.readers.shape import fits

DURATIONS = ("drain", "idle", "settle")


class ScalingConfig(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Model workers come and go with the work. Lengths of time are seconds."""

    min: int = 0  # 0: none at all while there is nothing to do
    max: int = 8
    drain: float = 300.0  # what waits should be done within this
    idle: float = 600.0  # without work for so long: back to `min`
    settle: float = 120.0  # fewer only after fewer were enough for so long
    cost_per_hour: float = 0.0  # of one worker, in whatever money
    budget_per_hour: float | None = None
    worker: dict[str, float] = {}  # what each reserves, in the words of a task's `resources`; {}: a GPU


def scaling_from(table: object, path: FieldPath, sheet: Sheet) -> dict[str, Any] | None:
    """Its plain form, or None when the sheet has been told what is wrong."""
    if isinstance(table, dict):
        table = dict(table)
        for field in DURATIONS:
            if isinstance(table.get(field), str):
                seconds = parse_duration(table[field])
                if seconds is None:
                    sheet.wrong((*path, field), table[field], "must be a length of time", DURATION_HINT)
                    return None
                table[field] = seconds
    if not fits(table, ScalingConfig, path, sheet):
        return None
    assert isinstance(table, dict)
    scaling = msgspec.convert(table, ScalingConfig)
    is_sound = [check(scaling, path, sheet) for check in (_check_counts, _check_times, _check_money, _check_worker)]
    return table if all(is_sound) else None


def _check_counts(scaling: ScalingConfig, path: FieldPath, sheet: Sheet) -> bool:
    if scaling.max < 1:
        sheet.wrong((*path, "max"), scaling.max, "must be at least 1", "to have no model workers leave out `models`")
    elif not 0 <= scaling.min <= scaling.max:
        sheet.wrong((*path, "min"), scaling.min, f"must be 0 or more, and at most `max` ({scaling.max})")
    else:
        return True
    return False


def _check_times(scaling: ScalingConfig, path: FieldPath, sheet: Sheet) -> bool:
    bad = {name: value for name in DURATIONS if not 0 < (value := getattr(scaling, name)) < math.inf}
    for name, value in bad.items():
        sheet.wrong((*path, name), value, "must be a finite length of time above 0", DURATION_HINT)
    return not bad


def _check_money(scaling: ScalingConfig, path: FieldPath, sheet: Sheet) -> bool:
    cost, budget = scaling.cost_per_hour, scaling.budget_per_hour
    if not 0 <= cost < math.inf:
        sheet.wrong((*path, "cost_per_hour"), cost, "must be a finite number, 0 or more")
    elif budget is None:
        return True
    elif not cost:
        sheet.tell(
            (*path, "budget_per_hour"), "a budget without `cost_per_hour`", "say what one worker costs in an hour"
        )
    elif not max(1, scaling.min) * cost <= budget < math.inf:
        least = max(1, scaling.min)
        rule = f"must pay for {least} worker{'s' if least > 1 else ''} at the least"
        sheet.wrong((*path, "budget_per_hour"), budget, rule, f"that is {least * cost:g} an hour")
    else:
        return True
    return False


def _check_worker(scaling: ScalingConfig, path: FieldPath, sheet: Sheet) -> bool:
    here = (*path, "worker")
    if scaling.worker and not any(amount > 0 for amount in scaling.worker.values()):
        hint = "for example `worker = { gpus = 1 }`, or `{ cpus = 4 }` where there are none"
        sheet.wrong(here, scaling.worker, "must say what a worker reserves on its node", hint)
        return False
    return check_amounts(scaling.worker, here, sheet)
