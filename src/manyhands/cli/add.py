"""`manyhands add`: more tasks, for whoever dispatches now or next; on disk when the command returns."""

import shlex
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from manyhands.backlogs.gathering import Gathering
from manyhands.backlogs.hosts import check_hosts
from manyhands.backlogs.plan import Plan, PlanRefused, read_plan
from manyhands.backlogs.rows import task_from
from manyhands.backlogs.settings import PlanSettings
from manyhands.cli.output import Output, print_rows, say
from manyhands.cli.settings import load
from manyhands.cli.views import command_for, find_run, open_book
from manyhands.config.model import Config
from manyhands.core.book import Book
from manyhands.core.events import RunOpened, TasksSubmitted
from manyhands.core.model import Task
from manyhands.core.state import Run
from manyhands.errors import Conflict, UnknownTask, UsageError
from manyhands.inputs.problems import sheet_of_row
from manyhands.serve.backlog import ADDED, ADDED_SOURCE
from manyhands.store.sqlite import FILE, open_journal, open_requests

#: The run of all that is added to no other.
ADDED_RUN = "added"


def add_tasks(
    files: Sequence[Path],
    fields: dict[str, Any],
    to: str | None,
    output: Output,
    config_path: Path | None,
    hosts_path: Path | None,
    store: str | None,
) -> None:
    config = load(config_path, hosts_path, store)
    book = open_book(config.store_directory) if (config.store_directory / FILE).exists() else None
    run = _target(book, to)
    plan = _plan(files, fields, run)
    if problems := check_hosts(plan, config.core_hosts()):
        raise PlanRefused(problems)
    _check_ids(plan.tasks, run)
    tasks = tuple(replace(task, labels=(*task.labels, ADDED)) for task in plan.tasks)
    name = run.name if run is not None else ADDED_RUN
    heard = _ask(config, name, tasks)
    print_rows([{"task": task.id, "run": name} for task in tasks], output, "task")
    goes_on = command_for(run) if run is not None else "manyhands serve"
    when = "" if heard else f"; it will be taken up by `{goes_on}`"
    say(f"{len(tasks)} {'task' if len(tasks) == 1 else 'tasks'} added to run {name}{when}")


def _target(book: Book | None, to: str | None) -> Run | None:
    """None: the run of what is added to no other, which is yet to be opened."""
    if to is None:
        return book.runs.get(ADDED_RUN) if book is not None else None
    if book is None:
        raise UsageError(f"there is no run `{to}`: nothing has been run here yet", "leave `--to` out")
    return find_run(book, to)


def _plan(files: Sequence[Path], fields: dict[str, Any], run: Run | None) -> Plan:
    given = {name: value for name, value in fields.items() if value not in (None, [], "")}
    if bool(files) == bool(given):
        hint = "`manyhands add tasks.toml` or `manyhands add --id lint --run 'ruff check'`"
        raise UsageError("give either plan files or the fields of one task", hint)
    if files:
        return read_plan(files)
    for name in ("run", "check"):
        if name in given:
            given[name] = _argv(name, given[name])
    gathering = Gathering()
    gathering.begin("command line")
    task = task_from(given, sheet_of_row("command line", 0, gathering.problems))
    if task is None:
        raise PlanRefused(gathering.problems.kept)
    known = run.records if run is not None else {}
    for need in task.needs:
        if need not in known:
            where = f"run {run.name}" if run is not None else "the run"
            raise UnknownTask(f"`--needs {need}`: {where} has no such task", "`manyhands task` lists those there are")
    gathering.places.add(0)
    return Plan([task], PlanSettings(), "command line", gathering.places)


def _argv(name: str, command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as error:
        raise UsageError(f"`--{name}` cannot be taken apart: {error}", "quote it as a shell would want it") from None


def _check_ids(tasks: Sequence[Task], run: Run | None) -> None:
    for task in tasks:
        if run is not None and task.id in run.records:
            state = run.records[task.id].state
            raise Conflict(f"run {run.name} has a task `{task.id}` already; it is {state}", "give it another id")


def _ask(config: Config, run: str, tasks: tuple[Task, ...]) -> bool:
    """Whether a dispatcher has heard of it."""
    directory = config.store_directory
    if not (directory / FILE).exists():
        open_journal(directory, config.store.durability).close()
    asking = open_requests(directory, config.store.durability)
    try:
        now = time.time()
        if run == ADDED_RUN:  # opening twice is opening once
            asking.ask(RunOpened(now, run, source=ADDED_SOURCE))
        asking.ask(TasksSubmitted(now, run, tasks))
        return asking.heard
    finally:
        asking.close()
