"""`manyhands task`: what the tasks of a run are doing, and why."""

import contextlib
import shlex
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import msgspec

from manyhands.cli.output import Output, cell, counted, duration, print_json, print_rows, put, put_lines, say
from manyhands.cli.settings import load
from manyhands.cli.views import command_for, find_run, find_task, is_dispatching, open_book
from manyhands.core.book import Book
from manyhands.core.explain import explain
from manyhands.core.model import TERMINAL, TaskState, is_step
from manyhands.core.state import Record
from manyhands.errors import Conflict, UsageError
from manyhands.review.tree import tree_lines, tree_of
from manyhands.runtime.runs import attempt_directory

#: What a list shows first: what is going on, then what waits, then what is over.
_ORDER = (
    TaskState.RUNNING,
    TaskState.FAILED,
    TaskState.BACKOFF,
    TaskState.READY,
    TaskState.BLOCKED,
    TaskState.DEFERRED,
    TaskState.SKIPPED,
    TaskState.CANCELLED,
    TaskState.DONE,
)

#: What an attempt may leave: an answer or a returned value, if it is long, and what its commands printed.
RESULTS = ("result.txt", "result.json")
OUTPUT = "output.log"


def list_tasks(
    run: str | None,
    state: str | None,
    kind: str | None,
    limit: int,
    output: Output,
    config_path: Path | None,
    store: str | None,
) -> None:
    place = load(config_path, None, store).store_at
    book = open_book(place)
    found = find_run(book, run)
    if state is not None and state not in list(TaskState):
        raise UsageError(f"there is no state `{state}`", f"the states are {', '.join(TaskState)}")
    wanted = [
        record
        for record in found.records.values()
        if (state is None or record.state == state) and (kind is None or record.task.kind == kind)
    ]
    wanted.sort(key=lambda record: _ORDER.index(record.state))
    shown = wanted[:limit]
    now = time.time()
    row = _data if output is Output.JSON else _row
    print_rows([row(book, record, now) for record in shown], output, "task")
    if output is Output.TABLE:
        counts = counted({str(each): n for each, n in found.counts.items()}, tuple(TaskState))
        put(f"{len(shown)} of {len(wanted)} shown · run {found.name}: {counts}\n")
    elif len(shown) < len(wanted):
        say(f"{len(shown)} of {len(wanted)} shown; --limit shows more")
    going = sum(found.counts[each] for each in (TaskState.READY, TaskState.RUNNING, TaskState.BACKOFF))
    if going and not is_dispatching(place):
        say(f"nothing is at work here; `{command_for(found)}` goes on with {found.unfinished:,} unfinished")


def _row(book: Book, record: Record, now: float) -> dict[str, object]:
    data = _data(book, record, now)
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


def _data(book: Book, record: Record, now: float) -> dict[str, object]:
    history = record.history or []
    why = "" if record.state in (TaskState.RUNNING, TaskState.DONE) else next(iter(explain(book, record, now)), "")
    return {
        "task": record.task.id,
        "kind": record.task.kind,
        "state": str(record.state),
        "attempt": len(history),
        "attempts": record.task.attempts,
        "host": history[-1].host if history else None,
        "for_s": _how_long_s(record, now),
        "why": why,
    }


def _attempt(record: Record) -> str:
    """`2/3`; after a retry by a person, or attempts that count against nobody, there may be more than planned."""
    tried, planned = len(record.history or ()), record.task.attempts
    return f"{tried}/{planned}" if tried <= planned else str(tried)


def _how_long_s(record: Record, now: float) -> float | None:
    """Since when it waits or runs; of what is over, how long the last attempt took."""
    if record.state not in TERMINAL:
        return now - record.since
    last = record.history[-1] if record.history else None
    return last.ended_at - last.started_at if last and last.ended_at else None


def show_task(id: str, run: str | None, output: Output, config_path: Path | None, store: str | None) -> None:
    book = open_book(load(config_path, None, store).store_at)
    record = find_task(book, id, run)
    whole = {
        "task": record.task.id,
        "run": record.run,
        "state": str(record.state),
        "why": explain(book, record, time.time()),
        "attempts": [msgspec.to_builtins(tried) for tried in record.history or ()],
        "plan": msgspec.to_builtins(record.task),
    }
    if output is Output.JSON:
        print_json(whole)
        return
    if output is Output.IDS:
        put_lines([record.task.id])
        return
    put_lines([f"{record.task.id} of run {record.run}: {record.state}", *(f"  {why}" for why in whole["why"])])
    plan = [(name, value) for name, value in msgspec.to_builtins(record.task).items() if name != "id"]
    put_lines(f"  {name:<10} {_planned(name, value)}" for name, value in plan)
    put_lines(_attempt_lines(record))


def _planned(name: str, value: object) -> str:
    """As it would be typed or written."""
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
        yield f"attempt {number} on {tried.host}: {ending.kind} after {took}{detail}"
        for text in (ending.result, ending.tail):
            yield from (f"    {line}" for line in text.splitlines()[-10:])


def print_tree(run: str | None, output: Output, config_path: Path | None, store: str | None) -> None:
    book = open_book(load(config_path, None, store).store_at)
    roots = tree_of(find_run(book, run).records)
    if output is Output.JSON:
        print_json(msgspec.to_builtins(roots))
    elif output is Output.IDS:
        put_lines(line.split(maxsplit=1)[0] for line in tree_lines(roots))
    else:
        put_lines(tree_lines(roots))


def explain_task(id: str, run: str | None, config_path: Path | None, store: str | None) -> None:
    place = load(config_path, None, store).store_at
    book = open_book(place)
    record = find_task(book, id, run)
    reasons = explain(book, record, time.time())
    if record.state not in TERMINAL and not is_dispatching(place):
        # Whatever else keeps it, nothing starts by itself.
        reasons = [f"nothing is at work here; `{command_for(book.runs[record.run])}` goes on", *reasons]
    put_lines([f"{record.state}{': ' if reasons else ''}{reasons[0] if reasons else ''}"])
    put_lines(f"  also: {reason}" for reason in reasons[1:])


def _who_did(book: Book, record: Record) -> Record:
    """A member of a family is done by a step of its latest round."""
    family, id = record.task.family, record.task.id
    if not family:
        return record
    records = book.runs[record.run].records.values()
    steps = [one for one in records if is_step(one.task) and one.task.parent == family and one.history]
    return next((one for one in reversed(steps) if one.task.id.partition(".apply.")[2] == id), record)


def print_log(id: str, attempt: int | None, run: str | None, config_path: Path | None, store: str | None) -> None:
    config = load(config_path, None, store)
    book = open_book(config.store_at)
    record = _who_did(book, find_task(book, id, run))
    id, tried = record.task.id, record.history or []
    if not tried:
        raise Conflict(f"task `{id}` has not been tried yet", f"`manyhands task explain {id}` says why")
    number = attempt if attempt is not None else len(tried)
    if number > len(tried):
        raise UsageError(f"task `{id}` has no attempt {number}", f"it has had {len(tried)}")
    place = Path(attempt_directory(config.store_directory, record.run, id, number))
    ending = tried[number - 1].ending
    results = [file for name in RESULTS if (file := place / name).is_file()]
    for file in results:
        _put_file(file)
    if not results and ending is not None and ending.result:
        put(ending.result + "\n")
    if (place / OUTPUT).is_file():
        _put_file(place / OUTPUT)
    elif ending is not None:
        put(ending.tail)


def _put_file(file: Path) -> None:
    """As it is, however long; an answer is followed by a new line even if it has none."""
    last = b""
    with file.open("rb") as text, contextlib.suppress(BrokenPipeError):
        while piece := text.read(1 << 16):
            sys.stdout.buffer.write(piece)
            last = piece[-1:]
    put("" if last in (b"\n", b"") else "\n")
