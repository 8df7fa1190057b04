"""`manyhands task`: shows what the tasks of a run are doing, and why."""

import contextlib
import shlex
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import msgspec

from manyhands.core.book import Book
from manyhands.core.state import Record
from manyhands.core.values.task import TaskState
from manyhands.surfaces.cli.printing import (
    OutputFormat,
    cell,
    counted,
    duration,
    print_json,
    print_rows,
    put,
    put_lines,
    say,
)
from manyhands.surfaces.cli.settings import Settings
from manyhands.surfaces.review.spending import used
from manyhands.surfaces.review.task_tree import tree_lines, tree_of
from manyhands.surfaces.verbs.store_view import View, find_run, find_task
from manyhands.surfaces.verbs.task_verbs import idle_note, left_by, matching, reasons_for, task_row, task_whole


def list_tasks(
    run: str | None,
    state: str | None,
    kind: str | None,
    limit: int,
    output: OutputFormat,
    settings: Settings,
) -> None:
    view = View(settings.load())
    found = find_run(view.book, run)
    wanted = matching(found, state, kind)
    shown = wanted[:limit]
    now = time.time()
    row = task_row if output is OutputFormat.JSON else _row
    print_rows([row(view.book, record, now) for record in shown], output, "task")
    if output is OutputFormat.TABLE:
        counts = counted({str(each): n for each, n in found.counts.items()}, tuple(TaskState))
        put(f"{len(shown)} of {len(wanted)} shown · run {found.name}: {counts}\n")
    elif len(shown) < len(wanted):
        say(f"{len(shown)} of {len(wanted)} shown; --limit shows more")
    if note := idle_note(view, found):
        say(note)


def _row(book: Book, record: Record, now: float) -> dict[str, object]:
    data = task_row(book, record, now)
    for_s = data["for_s"]
    return {
        "task": data["task"],
        "kind": data["kind"],
        "state": data["state"],
        "attempt": _attempt(record),
        "host": data["host"],
        "for": duration(for_s) if isinstance(for_s, float) else "",
        "why": data["why"],
    }


def _attempt(record: Record) -> str:
    """`2/3`. There may be more than planned: a person may retry, and some attempts do not count."""
    tried, planned = len(record.history or ()), record.task.attempts
    return f"{tried}/{planned}" if tried <= planned else str(tried)


def show_task(id: str, run: str | None, output: OutputFormat, settings: Settings) -> None:
    view = View(settings.load())
    record = find_task(view.book, id, run)
    whole = task_whole(view, record)
    if output is OutputFormat.JSON:
        print_json(whole)
        return
    if output is OutputFormat.IDS:
        put_lines([record.task.id])
        return
    put_lines([f"{record.task.id} of run {record.run}: {record.state}", *(f"  {why}" for why in whole.why)])
    put_lines(f"  {name:<10} {_planned(name, value)}" for name, value in whole.plan.items() if name != "id")
    put_lines(_attempt_lines(record))


def _planned(name: str, value: object) -> str:
    """As a person would type or write it."""
    if name in ("run", "check") and isinstance(value, (list, tuple)):
        return cell(shlex.join(str(word) for word in value))
    if name == "claims" and not value:
        return "none"
    return cell(value)


def _attempt_lines(record: Record) -> Iterable[str]:
    for number, tried in enumerate(record.history or (), 1):
        ending = tried.ending
        if ending is None or tried.ended_at is None:
            yield f"attempt {number} on {tried.host}: running"
            continue
        detail = f": {ending.detail}" if ending.detail else ""
        took = duration(tried.ended_at - tried.started_at)
        took = ", ".join([took, *used(ending.tokens_in + ending.tokens_out, ending.cost)])
        yield f"attempt {number} on {tried.host}: {ending.kind} after {took}{detail}"
        for text in (ending.result, ending.tail):
            yield from (f"    {line}" for line in text.splitlines()[-10:])


def print_tree(run: str | None, output: OutputFormat, settings: Settings) -> None:
    roots = tree_of(find_run(View(settings.load()).book, run).records)
    if output is OutputFormat.JSON:
        print_json(msgspec.to_builtins(roots))
    elif output is OutputFormat.IDS:
        put_lines(line.split(maxsplit=1)[0] for line in tree_lines(roots))
    else:
        put_lines(tree_lines(roots))


def explain_task(id: str, run: str | None, settings: Settings) -> None:
    view = View(settings.load())
    record = find_task(view.book, id, run)
    reasons = reasons_for(view, record)
    put_lines([f"{record.state}{': ' if reasons else ''}{reasons[0] if reasons else ''}"])
    put_lines(f"  also: {reason}" for reason in reasons[1:])


def print_log(id: str, attempt: int | None, run: str | None, settings: Settings) -> None:
    left = left_by(View(settings.load()), id, run, attempt)
    for file in left.results:
        _put_file(file)
    if not left.results and left.ending is not None and left.ending.result:
        put(left.ending.result + "\n")
    if left.output is not None:
        _put_file(left.output)
    elif left.ending is not None:
        put(left.ending.tail)


def _put_file(file: Path) -> None:
    """Copied unchanged, however long it is. A new line is added if the file does not end with one."""
    last = b""
    with file.open("rb") as text, contextlib.suppress(BrokenPipeError):
        while piece := text.read(1 << 16):
            sys.stdout.buffer.write(piece)
            last = piece[-1:]
    put("" if last in (b"\n", b"") else "\n")
