"""The report for a terminal: plain text, without colours."""

import shutil
import textwrap
from io import StringIO
from typing import TYPE_CHECKING

from manyhands.apps.evals.figures.figure_values import Comparison, Lift
from manyhands.apps.evals.reports import words
from manyhands.apps.evals.spec.eval_types import EvalRecord

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

WIDTH_MIN = 80
#: Tables are never cut. The terminal wraps long lines, and a file has them whole.
TABLE_WIDTH = 400
CASES_SHOWN = 12


def terminal(record: EvalRecord, comparison: Comparison) -> str:
    """Ends with a newline."""
    from rich.console import Console

    out = StringIO()
    console = Console(file=out, width=TABLE_WIDTH, color_system=None, highlight=False, markup=False, emoji=False)
    took = f" · {words.seconds(record.ended_at - record.started_at)}" if record.ended_at > record.started_at else ""
    console.print(f"eval {record.spec.name} · {words.size(record)} · {record.state.replace('_', ' ')}{took}")
    for lift in comparison.lifts:
        console.print(f"  {words.headline(lift)}")
    if comparison.lifts:
        console.print()
        console.print(_lifts(comparison))
        if any(lift.trouble_differs for lift in comparison.lifts):
            console.print("! the arms had different infrastructure trouble: see below")
        for lift in comparison.lifts:
            if not lift.null:
                _details(console, lift, comparison.power)
    if comparison.stops:
        console.print("\nCONFIDENCE SEQUENCES")
        for one in comparison.stops:
            console.print(_wrapped("  ", words.stop(one)))
    console.print()
    console.print(_arms(comparison))
    for heading, lines in (("ORDER", words.order(record)), ("CONCURRENCY", words.concurrency(record))):
        console.print(f"\n{heading}")
        for line in lines:
            console.print(_wrapped("  ", line))
    _know(console, record, comparison)
    return "\n".join(_printable(line.rstrip()) for line in out.getvalue().split("\n"))


def _wrapped(before: str, line: str) -> str:
    width = max(WIDTH_MIN, shutil.get_terminal_size().columns)
    return textwrap.fill(line, width, initial_indent=before, subsequent_indent=" " * len(before))


def _printable(line: str) -> str:
    """Names and errors come from outside, and must not move the cursor."""
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in line)


def _table(*columns: str, left: int = 1) -> "Table":
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="")
    for place, column in enumerate(columns):
        table.add_column(column, justify="left" if place < left else "right", no_wrap=True)
    return table


def _lifts(comparison: Comparison) -> "Table":
    level = words.percent(comparison.level)
    p = "P (HOLM)" if comparison.family > 1 else "P"
    table = _table(
        "SCORER", "ARM", "AGAINST", "MEAN", "LIFT", f"{level} INTERVAL", p, "EFFECT", "PAIRS", "VERDICT", left=2
    )
    for lift in comparison.lifts:
        estimate = lift.estimate
        table.add_row(
            lift.scorer,
            lift.arm + (" (null)" if lift.null else ""),
            f"{lift.baseline} {words.number(lift.baseline_mean)}",
            words.number(lift.arm_mean),
            words.number(None if estimate is None else estimate.mean, True),
            words.interval(None if estimate is None else estimate.interval),
            words.p_value(lift.p_adjusted),
            words.number(lift.effect_size, True),
            str(lift.pairs) + (f" (-{lift.left_out.total})" if lift.left_out.total else ""),
            lift.verdict.value + (" !" if lift.trouble_differs else ""),
        )
    return table


def _details(console: "Console", lift: Lift, power: float) -> None:
    say = console.print
    if lift.estimate is None:
        return
    say(f"\n{lift.arm} compared with {lift.baseline} by {lift.scorer}")
    parts = [f"bootstrap {words.interval(lift.bootstrap)}"]
    for name, tested in (("sign test", lift.sign), ("permutation", lift.permutation)):
        how = "" if tested is None else " exact" if tested.exact else " drawn"
        parts.append(f"{name} p {words.p_value(None if tested is None else tested.p)}{how}")
    say("  " + " · ".join(parts))
    ordered = sorted(lift.cases, key=lambda case: (-case.lift, case.case))
    if len(ordered) > CASES_SHOWN:
        half = CASES_SHOWN // 2
        ordered = ordered[:half] + ordered[-half:]
    for case in ordered:
        bar = _bar(case.lift, max(abs(other.lift) for other in lift.cases))
        say(f"  {case.case[:28]:28} {words.number(case.lift, True):>8} {bar}")
    if len(lift.cases) > CASES_SHOWN:
        half = CASES_SHOWN // 2
        say(f"  the {half} highest and {half} lowest of {len(lift.cases):,} cases; `--output json` has all of them")
    if lift.detectable is not None:
        say(f"  a lift of {words.number(lift.detectable)} would be seen in {power:.0%} of such evals; to see a lift of")
        for one in lift.needed:
            say(f"    {words.needed(one, power)}")
    for note in lift.notes:
        say(_wrapped("  ", f"note: {note}"))


def _bar(lift: float, largest: float, half: int = 14) -> str:
    """A bar with zero in the middle."""
    length = round(half * abs(lift) / largest) if largest else 0
    if lift < 0:
        return " " * (half - length) + "─" * length + "│"
    return " " * half + "│" + "─" * length


def _arms(comparison: Comparison) -> "Table":
    table = _table(
        "ARM",
        "TRIALS",
        "TAINTED",
        "GIVEN UP",
        "TIMED OUT",
        "SCORER ERRORS",
        "TROUBLE",
        "MEDIAN",
        "TOKENS IN/OUT",
        "COST",
    )
    for arm in comparison.arms:
        table.add_row(
            arm.arm,
            f"{arm.finished} of {arm.planned}",
            str(arm.tainted),
            str(arm.lost_to_infrastructure),
            str(arm.timed_out),
            str(arm.scorer_errors),
            words.trouble(arm),
            words.NONE if arm.seconds is None else words.seconds(arm.seconds.median),
            f"{arm.tokens_in:,}/{arm.tokens_out:,}",
            words.number(arm.cost),
        )
    return table


def _know(console: "Console", record: EvalRecord, comparison: Comparison) -> None:
    say = console.print
    broken = words.broken_scorers(record.outcomes)
    if not comparison.marks and not broken:
        return
    say("\nBEFORE YOU TRUST THIS")
    for mark in sorted(comparison.marks, key=lambda mark: not mark.serious):
        say(_wrapped("  ! " if mark.serious else "  · ", mark.text))
    for line in broken:
        say(_wrapped("  ! ", line))
