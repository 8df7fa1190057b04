"""How figures are written: the same numbers in the same words in every report."""

from collections import Counter
from collections.abc import Sequence

from manyhands.apps.evals.figures.figure_values import ArmFigures, Comparison, Interval, Lift, LiftVerdict, Needed, Stop
from manyhands.apps.evals.spec.eval_types import EvalRecord, TrialOutcome
from manyhands.quantities import quantity

NONE = "–"
#: The actual order names this many trials. Nobody would read more.
ORDER_SHOWN = 24


def number(value: float | None, signed: bool = False) -> str:
    if value is None:
        return NONE
    digits = f"{value:+.3f}" if signed else f"{value:.3f}"
    if value and (abs(value) >= 1000 or abs(value) < 0.001):
        return f"{value:+.3g}" if signed else f"{value:.3g}"
    return digits


def interval(value: Interval | None) -> str:
    return NONE if value is None else f"{number(value.low, True)} … {number(value.high, True)}"


def p_value(value: float | None) -> str:
    if value is None:
        return NONE
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def percent(share: float) -> str:
    return f"{100 * share:g} %"


def seconds(value: float) -> str:
    if value < 10:
        return f"{value:.2g}s"
    if value < 60:
        return f"{value:.0f}s"
    minutes, rest = divmod(round(value), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h {minutes}m" if hours else f"{minutes}m {rest}s"


def size(record: EvalRecord) -> str:
    spec = record.spec
    parts = [
        quantity(len(spec.arms), "arm"),
        quantity(len(spec.cases), "case"),
        quantity(spec.replications, "replication"),
    ]
    if spec.sessions > 1:
        parts.append(quantity(spec.sessions, "session"))
    return " × ".join(parts)


def headline(lift: Lift) -> str:
    """One sentence that claims no more than is known."""
    who = f"{lift.arm} compared with {lift.baseline} by {lift.scorer}"
    if lift.estimate is None:
        return f"{who}: nothing to compare"
    by = number(lift.estimate.mean, True)
    if lift.null:
        alarm = lift.verdict in (LiftVerdict.BETTER, LiftVerdict.WORSE)
        said = "shows a lift, although there is none" if alarm else "shows no lift, as it should"
        return f"{lift.arm} repeats {lift.baseline} and {said}: {by} by {lift.scorer}"
    if lift.verdict in (LiftVerdict.BETTER, LiftVerdict.WORSE):
        return f"{lift.arm} is {lift.verdict.value} than {lift.baseline} by {lift.scorer}: {by}"
    if lift.verdict is LiftVerdict.UNKNOWN:
        return f"{who}: {by}; how certain that is cannot be computed"
    return f"{who}: {by}; there may be no lift"


def stop(one: Stop) -> str:
    who = f"{one.arm} by {one.scorer}"
    if not one.low:
        return f"{who}: no case has ended in both arms"
    seen = quantity(len(one.low), one.unit)
    told = f"decided after {one.decided_after} of {seen}" if one.decided_after else f"not decided after {seen}"
    return f"{who}: {told}; now {number(one.low[-1], True)} … {number(one.high[-1], True)}, valid at every look"


def needed(one: Needed, power: float) -> str:
    enough = [
        quantity(count, word)
        for count, word in ((one.replications, "replication"), (one.cases, "case"))
        if count is not None
    ]
    told = " or ".join(enough) if enough else "more than anyone can run"
    return f"{number(one.lift)}: {told} for {percent(power)} power (now {one.power_now:.0%})"


def trouble(arm: ArmFigures) -> str:
    there = [f"{count} {name.replace('_', ' ')}" for name, count in arm.trouble.items() if count]
    return ", ".join(there) if there else "0"


def first_arms(record: EvalRecord) -> Counter[str]:
    return Counter(outcome.arm for outcome in record.outcomes if outcome.position == 1)


def order(record: EvalRecord) -> list[str]:
    """The order of the arms, planned and actual."""
    spec = record.spec
    if not spec.interleave:
        lines = ["not interleaved: each arm in one block"]
    else:
        how = "drawn and balanced" if spec.order == "drawn" else "strictly in turn"
        lines = [f"interleaved; the first arm is {how} (seed {spec.seed})"]
    firsts = first_arms(record)
    if firsts:
        each = ", ".join(f"{arm.name} {firsts[arm.name]}" for arm in spec.arms)
        lines.append(f"first in a pair: {each}")
    if record.order:
        shown = " ".join(start.arm for start in record.order[:ORDER_SHOWN])
        more = f" … ({len(record.order):,} sessions)" if len(record.order) > ORDER_SHOWN else ""
        lines.append(f"started: {shown}{more}")
    else:
        lines.append("the record does not have the actual order")
    return lines


def concurrency(record: EvalRecord) -> list[str]:
    n, how = record.concurrency.n, record.concurrency.how
    found = {
        "default": "the default",
        "spec": "from the spec",
        "flag": "from the command line",
        "auto": "found by doubling until something slowed down, then fixed for all arms",
    }
    lines = [f"{quantity(n, 'trial')} at once, {found[how]}"]
    for step in record.concurrency.steps:
        said = "accepted" if step.accepted else f"refused{': ' + step.why if step.why else ''}"
        lines.append(
            f"at {step.n}: p95 {seconds(step.p95_s)} (× {step.slow_down:.2f}), {step.failures:.1%} failures, "
            f"{step.overloads} overloads → {said}"
        )
    return lines


def broken_scorers(outcomes: Sequence[TrialOutcome]) -> list[str]:
    """The reasons of each scorer and how often, the most frequent first."""
    reasons = Counter((scorer, why) for one in outcomes for scorer, why in one.score_errors.items())
    return [
        f"{scorer}: {why} ({count} ×)" for (scorer, why), count in sorted(reasons.items(), key=lambda r: (-r[1], r))
    ]


def methods(comparison: Comparison) -> str:
    return (
        "Lift: the mean over cases of the paired difference. A replication counts in both arms or in neither. "
        f"Interval: paired t over cases at {percent(comparison.level)}, clustered (CR2, Satterthwaite's degrees of "
        "freedom) if cases share a cluster. The cluster bootstrap is beside it. p: of the paired t test, with Holm's "
        f"correction for {quantity(comparison.family, 'comparison')}. Effect: Hedges' g of the differences."
    )
