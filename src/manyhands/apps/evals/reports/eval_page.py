"""The report as one self-contained page: without scripts, without downloads, light and dark."""

import re
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files

from manyhands.apps.evals.figures.figure_values import Comparison, Lift, LiftVerdict
from manyhands.apps.evals.reports import words
from manyhands.apps.evals.reports.distribution_plot import distribution_plot
from manyhands.apps.evals.reports.lift_plot import left_unshown, lift_plot
from manyhands.apps.evals.reports.spending_plot import cost_plot, tokens_plot
from manyhands.apps.evals.reports.timeline_plot import timeline_plot
from manyhands.apps.evals.spec.eval_types import EvalRecord
from manyhands.quantities import quantity

#: The number of hues. Further arms share them, and differ by name and row.
HUES = 8
#: The page may load nothing and run nothing, whatever the names in it contain.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def html(record: EvalRecord, comparison: Comparison) -> str:
    style = files("manyhands.apps.evals.reports").joinpath("report.css").read_text(encoding="utf-8")
    colours = colours_of(record)
    body = "".join(
        [
            _head(record, comparison),
            "<main>",
            _marks(record, comparison),
            *(_lift(lift, comparison, colours) for lift in comparison.lifts if not lift.null),
            _null_arms(comparison, colours),
            _stops(comparison),
            _distributions(comparison, record, colours),
            _order(record, colours),
            _spending(comparison, colours),
            _arms(comparison, colours),
            "</main>",
            f"<footer><p>{escape(words.methods(comparison))}</p></footer>",
        ]
    )
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(record.spec.name)} · eval</title><style>{style}</style></head>\n<body>{body}</body></html>\n"
    )


def colours_of(record: EvalRecord) -> dict[str, str]:
    """The baseline is grey. Each other arm has a hue."""
    others = [arm.name for arm in record.spec.arms if arm.name != record.spec.baseline]
    hues = {name: 1 + place % (HUES - 1) for place, name in enumerate(others)}
    return {arm.name: f"--c:var(--arm-{hues.get(arm.name, 0)})" for arm in record.spec.arms}


def _head(record: EvalRecord, comparison: Comparison) -> str:
    took = record.ended_at - record.started_at
    facts = [words.size(record), record.state.replace("_", " ")] + ([words.seconds(took)] if took > 0 else [])
    said = "".join(f'<p class="says">{escape(words.headline(lift))}</p>' for lift in comparison.lifts if not lift.null)
    return f"<header><h1><b>{escape(record.spec.name)}</b> · {escape(' · '.join(facts))}</h1>{said}</header>"


def _marks(record: EvalRecord, comparison: Comparison) -> str:
    lines = [(mark.serious, mark.text) for mark in comparison.marks]
    lines += [(True, line) for line in words.broken_scorers(record.outcomes)]
    if not lines:
        return ""
    items = "".join(
        f"<li{' class=serious' if serious else ''}><span>{_named(text)}</span></li>"
        for serious, text in sorted(lines, key=lambda line: not line[0])
    )
    return f'<h2>Before you trust these figures</h2><div class="card"><ul class="marks">{items}</ul></div>'


def _named(text: str) -> str:
    """Shows names in backticks as code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", escape(text))


def _lift(lift: Lift, comparison: Comparison, colours: Mapping[str, str]) -> str:
    verdict = f'<span class="verdict {lift.verdict.value}">{lift.verdict.value}</span>'
    if lift.trouble_differs:
        verdict += '<span class="verdict worse">trouble differs</span>'
    title = f"{escape(lift.arm)} compared with {escape(lift.baseline)} by {escape(lift.scorer)} {verdict}"
    inside = _figures(lift, comparison, colours) + _needed(lift, comparison) + _cases(lift)
    return f'<h2>{title}</h2><div class="card">{inside}</div>'


def _figures(lift: Lift, comparison: Comparison, colours: Mapping[str, str]) -> str:
    notes = [note for note in [*lift.notes, left_unshown(lift)] if note]
    told = f'<p class="quiet">{escape("; ".join(notes))}</p>' if notes else ""
    return f'{_facts(lift, comparison)}<div class="wide">{lift_plot(lift, colours[lift.arm])}</div>{told}'


def _null_arms(comparison: Comparison, colours: Mapping[str, str]) -> str:
    """Folded, because they should show nothing. If they do, a mark says so."""
    cards = "".join(
        f'<div class="card"><details><summary>{escape(words.headline(lift))}</summary><br>'
        f"{_figures(lift, comparison, colours)}</details></div>"
        for lift in comparison.lifts
        if lift.null
    )
    return f"<h2>Null arms</h2>{cards}" if cards else ""


def _stops(comparison: Comparison) -> str:
    lines = "".join(f'<p class="quiet">{escape(words.stop(one))}</p>' for one in comparison.stops)
    return f'<h2>Confidence sequences</h2><div class="card">{lines}</div>' if lines else ""


def _facts(lift: Lift, comparison: Comparison) -> str:
    if lift.estimate is None:
        return ""
    left_out = ", ".join(
        f"{count} {name.replace('_', ' ')}"
        for name in lift.left_out.__struct_fields__
        if (count := getattr(lift.left_out, name))
    )
    holm = f"Holm, {comparison.family} comparisons" if comparison.family > 1 and not lift.null else ""
    t = words.p_value(lift.estimate.p)
    tests = [f"t {t}"] + [
        f"{name} {words.p_value(tested.p)}"
        for name, tested in (("sign", lift.sign), ("permutation", lift.permutation))
        if tested
    ]
    units = f"{lift.estimate.units} {'replications' if lift.unit == 'replication' else 'cases'}"
    units += f" in {lift.estimate.clusters} clusters" if lift.estimate.clusters else ""
    facts = [
        (
            "lift",
            words.number(lift.estimate.mean, True),
            f"{words.number(lift.baseline_mean)} → {words.number(lift.arm_mean)}",
        ),
        (
            f"{words.percent(comparison.level)} interval",
            words.interval(lift.estimate.interval),
            f"bootstrap {words.interval(lift.bootstrap)}",
        ),
        ("p", words.p_value(lift.p_adjusted), "; ".join(part for part in [holm, *tests] if part)),
        ("effect", words.number(lift.effect_size, True), f"SD {words.number(lift.estimate.sd)}"),
        ("pairs", f"{lift.pairs:,}", f"{units}; left out {left_out or 0}"),
    ]
    items = "".join(
        f"<div><dt>{escape(a)}</dt><dd>{escape(b)}<small>{escape(c)}</small></dd></div>" for a, b, c in facts
    )
    return f'<dl class="facts">{items}</dl>'


def _needed(lift: Lift, comparison: Comparison) -> str:
    if lift.detectable is None:
        return ""
    rows = [
        (
            words.number(one.lift)
            + (" (the one seen)" if place == 0 and lift.verdict is not LiftVerdict.UNKNOWN else ""),
            f"{one.power_now:.0%}",
            _replications(lift, one.replications),
            words.NONE if one.cases is None else f"{one.cases:,}",
        )
        for place, one in enumerate(lift.needed)
    ]
    share = f"{comparison.power:.0%}"
    table = _table(["a lift of", "power now", f"replications per case for {share}", f"or cases for {share}"], rows)
    said = f"What it would take: a lift of {words.number(lift.detectable)} would be seen in {share} of such evals"
    return f"<details open><summary>{escape(said)}</summary>{table}</details>"


def _replications(lift: Lift, needed: int | None) -> str:
    if needed is not None:
        return f"{needed:,}"
    repeated = any(case.pairs > 1 for case in lift.cases)
    return "no number is enough" if repeated else "unknown with one per case"


def _cases(lift: Lift) -> str:
    rows = [
        (
            case.case,
            case.cluster or words.NONE,
            str(case.pairs),
            words.number(case.baseline),
            words.number(case.arm),
            words.number(case.lift, True),
            words.interval(case.interval),
        )
        for case in lift.cases
    ]
    table = _table(["case", "cluster", "pairs", lift.baseline, lift.arm, "lift", "interval"], rows)
    return f"<details><summary>{quantity(len(rows), 'case')} as a table</summary>{table}</details>"


def _distributions(comparison: Comparison, record: EvalRecord, colours: Mapping[str, str]) -> str:
    plots = []
    for place, scorer in enumerate(record.spec.scorers):
        values = {arm.arm: arm.scored[place].values for arm in comparison.arms}
        plots.append((f"scores by {scorer.name}", distribution_plot(f"Scores by {scorer.name}", values, colours)))
    clean = [one for one in record.outcomes if one.state == "scored" and not one.tainted]
    took = {arm.arm: [one.duration_s for one in clean if one.arm == arm.arm] for arm in comparison.arms}
    plots.append(("seconds a trial took", distribution_plot("Seconds a trial took", took, colours)))
    return _pictures("Distributions", plots, "The line is the mean. Quarantined trials are left out.")


def _spending(comparison: Comparison, colours: Mapping[str, str]) -> str:
    plots = [
        ("tokens in (full) and out (pale)", tokens_plot(comparison.arms, colours)),
        ("cost", cost_plot(comparison.arms, colours)),
    ]
    note = "These are for all attempts, including repeated ones, because all of them cost money."
    return _pictures("Tokens and cost", plots, note)


def _pictures(title: str, plots: Sequence[tuple[str, str]], note: str) -> str:
    cards = "".join(f'<div class="card"><h3>{escape(name)}</h3>{plot}</div>' for name, plot in plots if plot)
    return f'<h2>{title}</h2><div class="pair">{cards}</div><p class="quiet">{note}</p>' if cards else ""


def _order(record: EvalRecord, colours: Mapping[str, str]) -> str:
    plot, note = timeline_plot(record, colours)
    lines = "".join(f'<p class="quiet">{escape(line)}</p>' for line in words.order(record)[:2])
    shown = " ".join(start.arm for start in record.order[: words.ORDER_SHOWN * 10])
    whole = (
        f'<details><summary>the actual order</summary><p class="order">{escape(shown)}</p></details>' if shown else ""
    )
    key = "× did not end well · ↻ repeated after trouble · dashed: tainted"
    told = f'<p class="quiet">{escape(" · ".join(part for part in (key if plot else "", note) if part))}</p>'
    wide = "".join(f'<p class="quiet">{escape(line)}</p>' for line in words.concurrency(record))
    return (
        f'<h2>Order and concurrency</h2><div class="card"><div class="wide">{plot}</div>{told}</div><div class="pair">'
        f'<div class="card"><h3>order</h3>{lines}{whole}</div><div class="card"><h3>concurrency</h3>{wide}</div></div>'
    )


def _arms(comparison: Comparison, colours: Mapping[str, str]) -> str:
    columns = [
        "arm",
        "trials",
        "tainted",
        "given up",
        "timed out",
        "failed",
        "scorer errors",
        "attempts",
        "trouble",
        "median",
        "tokens",
        "cost",
    ]
    rows = [
        (
            arm.arm,
            f"{arm.finished} of {arm.planned}",
            str(arm.tainted),
            str(arm.lost_to_infrastructure),
            str(arm.timed_out),
            str(arm.failed),
            str(arm.scorer_errors),
            str(arm.attempts),
            words.trouble(arm),
            words.NONE if arm.seconds is None else words.seconds(arm.seconds.median),
            f"{arm.tokens_in + arm.tokens_out:,}",
            words.number(arm.cost),
        )
        for arm in comparison.arms
    ]
    swatches = [f'<span class="swatch" style="{colours[arm.arm]}"></span>' for arm in comparison.arms]
    return f'<h2>Arms</h2><div class="card">{_table(columns, rows, swatches)}</div>'


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]], before: Sequence[str] = ()) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = ""
    for place, row in enumerate(rows):
        cells = [escape(cell) for cell in row]
        if before:
            cells[0] = before[place] + cells[0]
        body += "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
