"""`manyhands task`: shows what the tasks of a run are doing, and why."""

import codecs
import contextlib
import shlex
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec
from msgspec.structs import asdict

from manyhands.core.values.task import TaskState
from manyhands.hosts.agents.agent_files import ERRORS_FILE, RAW_FILE
from manyhands.readers.plain_file import open_plain
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
from manyhands.surfaces.cli.terminal_text import output_for_terminal
from manyhands.surfaces.review.review_markdown import when
from manyhands.surfaces.review.spending import used
from manyhands.surfaces.review.task_tree import tree_lines, tree_of, walk
from manyhands.surfaces.verbs import task_verbs
from manyhands.surfaces.verbs.attempt_output import left_by
from manyhands.surfaces.verbs.store_view import View, find_run, find_task
from manyhands.surfaces.verbs.task_report import AttemptRow, report_task
from manyhands.surfaces.verbs.task_verbs import TaskFilter, TaskRow

_LINE_CHARACTERS_MAX = 1 << 20


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
    listed = task_verbs.list_tasks(view, [found], TaskFilter(state, kind), limit)
    row = _cells if output is OutputFormat.TABLE else asdict
    print_rows([row(task) for task in listed.tasks], output, "task")
    if output is OutputFormat.TABLE:
        counts = counted(listed.counts, tuple(TaskState))
        put(f"{len(listed.tasks)} of {listed.total} shown · run {found.name}: {counts}\n")
    elif len(listed.tasks) < listed.total:
        say(f"{len(listed.tasks)} of {listed.total} shown; --limit shows more")
    if listed.note:
        say(listed.note)


def _cells(task: TaskRow) -> dict[str, object]:
    # After a retry by a person, or attempts that do not count, there may be more attempts than planned.
    attempt = f"{task.attempt}/{task.attempts}" if task.attempt <= task.attempts else str(task.attempt)
    return {
        "task": task.task,
        "kind": task.kind,
        "state": task.state,
        "attempt": attempt,
        "host": task.host,
        "for": "" if task.for_s is None else duration(task.for_s),
        "why": task.why,
    }


def show_task(id: str, run: str | None, output: OutputFormat, settings: Settings) -> None:
    view = View(settings.load())
    record = find_task(view.book, id, run)
    whole = report_task(view, record)
    if output is OutputFormat.JSON:
        print_json(whole)
        return
    if output is OutputFormat.IDS:
        put_lines([record.task.id])
        return
    put_lines([f"{record.task.id} of run {record.run}: {record.state}", *(f"  {why}" for why in whole.why)])
    put_lines(f"  {name:<10} {_planned(name, value)}" for name, value in whole.plan.items() if name != "id")
    put_lines(line for attempt in whole.attempts for line in _attempt_lines(attempt))


def _planned(name: str, value: object) -> str:
    """As a person would type or write it."""
    if name in ("run", "check") and isinstance(value, (list, tuple)):
        return cell(shlex.join(str(word) for word in value))
    if name == "claims" and not value:
        return "none"
    return cell(value)


def _attempt_lines(attempt: AttemptRow) -> Iterable[str]:
    if attempt.ended_at is None:
        yield f"attempt {attempt.number} on {attempt.host}: running"
        return
    detail = f": {attempt.detail}" if attempt.detail else ""
    took = duration(attempt.ended_at - attempt.started_at)
    took = ", ".join([took, *used(attempt.tokens_in + attempt.tokens_out, attempt.cost)])
    yield f"attempt {attempt.number} on {attempt.host}: {attempt.ending} after {took}{detail}"
    if (judged := attempt.judged) is not None:
        words = f": {judged.words}" if judged.words else ""
        verdict = str(judged.verdict).replace("_", " ")
        decided = f"{verdict} by {judged.by or 'a person'}, {when(judged.at)}{words}"
        yield f"  {cell(decided)}"
    yield from (f"  {cell(note)}" for note in attempt.notes)
    for one in attempt.artefacts:
        kept = f", copied to {one.copy}" if one.copy else ""
        yield cell(f"  file {one.path} ({one.size_bytes:,} bytes{kept})")
    for text in (attempt.result, attempt.tail):
        yield from (f"    {line}" for line in text.splitlines()[-10:])


def print_tree(run: str | None, output: OutputFormat, settings: Settings) -> None:
    found = find_run(View(settings.load()).book, run)
    roots = tree_of(found.records, found.about.epics)
    if output is OutputFormat.JSON:
        print_json(msgspec.to_builtins(roots))
    elif output is OutputFormat.IDS:
        put_lines(node.id for node in walk(roots))
    else:
        put_lines(tree_lines(roots))


def explain_task(id: str, run: str | None, settings: Settings) -> None:
    view = View(settings.load())
    record = find_task(view.book, id, run)
    reasons = task_verbs.explain_task(view, record).why
    put_lines([f"{record.state}{': ' if reasons else ''}{reasons[0] if reasons else ''}"])
    put_lines(f"  also: {reason}" for reason in reasons[1:])


def print_log(id: str, attempt: int | None, run: str | None, settings: Settings, raw: bool = False) -> None:
    view = View(settings.load())
    left = left_by(view, id, run, attempt)
    redact = view.secrets.redact
    said = [left.output.with_name(name) for name in (RAW_FILE, ERRORS_FILE)] if left.output is not None else []
    of_agent = [file for file in said if file.is_file()]
    if of_agent:  # its answer is among its words
        assert left.output is not None
        for file in of_agent if raw else [left.output]:
            _put_file(file, raw, redact)
        return
    for file in left.results:
        _put_file(file, raw, redact)
    if not left.results and left.ending is not None and left.ending.result:
        put(redact(left.ending.result) + "\n")
    if left.output is not None:
        _put_file(left.output, raw, redact)
    elif left.ending is not None:
        put(left.ending.tail)


def _put_file(file: Path, raw: bool, redact: Callable[[str], str]) -> None:
    """Print it, however long it is. A new line is added if the file does not end with one."""
    last, unfinished = b"", ""
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    with open(open_plain(file), "rb") as content, contextlib.suppress(BrokenPipeError):
        while piece := content.read(1 << 16):
            if raw:
                sys.stdout.buffer.write(piece)
            else:
                text = unfinished + decoder.decode(piece)
                # A line stays whole, unless it is very long: a secret that was cut in two would not be found.
                whole = text.rfind("\n") + 1 or (len(text) if len(text) > _LINE_CHARACTERS_MAX else 0)
                put(output_for_terminal(redact(text[:whole])))
                unfinished = text[whole:]
            last = piece[-1:]
        put(output_for_terminal(redact(unfinished)))
    put("" if last in (b"\n", b"") else "\n")
