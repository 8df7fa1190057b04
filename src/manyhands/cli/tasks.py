"""`manyhands task`: what the tasks of a run are doing, and why."""

import shutil
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import msgspec

from manyhands.cli.output import Output, counted, duration, print_json, print_rows, say
from manyhands.cli.settings import load
from manyhands.cli.views import find_run, find_task, open_book
from manyhands.core.book import Book
from manyhands.core.explain import explain
from manyhands.core.model import TERMINAL, TaskState
from manyhands.core.state import Record
from manyhands.errors import Conflict, UsageError

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


def list_tasks(
    run: str | None,
    state: str | None,
    kind: str | None,
    limit: int,
    output: Output,
    config_path: Path | None,
    store: str | None,
) -> None:
    book = open_book(load(config_path, None, store).store_directory)
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
    print_rows([_row(book, record, now) for record in shown], output, "task")
    if output is Output.TABLE:
        counts = counted({str(each): n for each, n in found.counts.items()}, tuple(TaskState))
        sys.stdout.write(f"{len(shown)} of {len(wanted)} shown · {counts}\n")
    elif len(shown) < len(wanted):
        say(f"{len(shown)} of {len(wanted)} shown; --limit shows more")


def _row(book: Book, record: Record, now: float) -> dict[str, object]:
    history = record.history or []
    over = record.state in TERMINAL
    took_s = history[-1].ended_at - history[-1].started_at if over and history and history[-1].ended_at else None
    waited = duration(now - record.since) if not over else duration(took_s) if took_s is not None else ""
    return {
        "task": record.task.id,
        "kind": record.task.kind,
        "state": str(record.state),
        "attempt": f"{len(history)}/{record.task.attempts}",
        "host": history[-1].host if history else "",
        "for": waited,
        "why": next(iter(explain(book, record, now)), "") if record.state is not TaskState.RUNNING else "",
    }


def show_task(id: str, run: str | None, output: Output, config_path: Path | None, store: str | None) -> None:
    book = open_book(load(config_path, None, store).store_directory)
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
        sys.stdout.write(f"{record.task.id}\n")
        return
    lines = [f"{record.task.id} of run {record.run}: {record.state}", *(f"  {why}" for why in whole["why"])]
    lines += [f"  {name}: {value}" for name, value in msgspec.to_builtins(record.task).items() if name != "id"]
    lines += list(_attempt_lines(record))
    sys.stdout.write("\n".join(lines) + "\n")


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


def explain_task(id: str, run: str | None, config_path: Path | None, store: str | None) -> None:
    book = open_book(load(config_path, None, store).store_directory)
    record = find_task(book, id, run)
    reasons = explain(book, record, time.time())
    sys.stdout.write(f"{record.state}{', ' if reasons else ''}{'; '.join(reasons[:1])}\n")
    sys.stdout.write("".join(f"  also: {reason}\n" for reason in reasons[1:]))


def print_log(id: str, attempt: int | None, run: str | None, config_path: Path | None, store: str | None) -> None:
    config = load(config_path, None, store)
    record = find_task(open_book(config.store_directory), id, run)
    number = attempt or len(record.history or ())
    if not record.history or number > len(record.history):
        raise Conflict(f"task `{id}` has had {len(record.history or ())} attempts", "`manyhands task explain` says why")
    directory = config.store_directory / "attempts" / record.run / f"{id}.{number}"
    for name in ("output.log", "result.txt", "result.json"):
        if (directory / name).is_file():
            with (directory / name).open("rb") as file:
                shutil.copyfileobj(file, sys.stdout.buffer)
            sys.stdout.flush()
            return
    ending = record.history[number - 1].ending
    if ending is not None:
        sys.stdout.write(ending.tail or ending.result)
