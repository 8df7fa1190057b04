"""A `[hosts.NAME.scaling]` table: what a ray host says of its model workers."""

from typing import Annotated, Any

import msgspec
from msgspec import Struct

from manyhands.durations import Duration
from manyhands.field_rules import Amount, Positive, rule, says
from manyhands.readers.problems import FieldPath, Sheet


class ScalingConfig(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """How many model workers there are: they come and go with the work."""

    min: Annotated[
        int,
        rule(minimum=0),
        says("The fewest model workers. 0: none while there is nothing to do."),
    ] = 0
    max: Annotated[
        int,
        rule(minimum=1),
        says("The most model workers.", "to have no model workers leave out `models`"),
    ] = 8
    drain: Annotated[Duration, says("What waits should be done within this time.")] = 300.0
    idle: Annotated[Duration, says("After this time without work, only `min` workers are left.")] = 600.0
    settle: Annotated[
        Duration,
        says("The number of workers falls only after fewer have been enough for this time."),
    ] = 120.0
    cost_per_hour: Annotated[Amount, says("What one worker costs in an hour, in your currency.")] = 0.0
    budget_per_hour: Annotated[
        Positive | None,
        says("What all workers together may cost in an hour. It needs `cost_per_hour`."),
    ] = None
    worker: Annotated[
        dict[str, Amount],
        says("What each worker reserves on its node, in the words of a task's `resources`. `{}`: a GPU."),
    ] = {}


def check_scaling(table: dict[str, Any], path: FieldPath, sheet: Sheet) -> bool:
    """The rules between its fields."""
    scaling = msgspec.convert(table, ScalingConfig)
    is_sound = [check(scaling, path, sheet) for check in (_check_counts, _check_money, _check_worker)]
    return all(is_sound)


def _check_counts(scaling: ScalingConfig, path: FieldPath, sheet: Sheet) -> bool:
    if scaling.min <= scaling.max:
        return True
    sheet.wrong((*path, "min"), scaling.min, f"must be at most `max` ({scaling.max})")
    return False


def _check_money(scaling: ScalingConfig, path: FieldPath, sheet: Sheet) -> bool:
    cost, budget = scaling.cost_per_hour, scaling.budget_per_hour
    least = max(1, scaling.min)
    if budget is None:
        return True
    if not cost:
        message, hint = "a budget needs `cost_per_hour`", "say what one worker costs in an hour"
        sheet.tell((*path, "budget_per_hour"), message, hint)
        return False
    if budget < least * cost:
        rule = f"must pay for at least {least} worker{'s' if least > 1 else ''}"
        sheet.wrong((*path, "budget_per_hour"), budget, rule, f"that is {least * cost:g} an hour")
        return False
    return True


def _check_worker(scaling: ScalingConfig, path: FieldPath, sheet: Sheet) -> bool:
    if not scaling.worker or any(scaling.worker.values()):
        return True
    hint = "for example `worker = { gpus = 1 }`, or `{ cpus = 4 }` where there are no GPUs"
    sheet.wrong((*path, "worker"), scaling.worker, "must say what a worker reserves on its node", hint)
    return False
