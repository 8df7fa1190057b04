"""`manyhands add`: more tasks, for whoever dispatches now or next; on disk when the command returns."""

import shlex
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

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
from manyhands.core.events import Input
from manyhands.core.state import Run
from manyhands.errors import UsageError
from manyhands.inputs.problems import sheet_of_row
from manyhands.runtime.adding import ADDED_RUN, adding, check_ids, check_needs, labelled
from manyhands.store.opening import exists, make, open_requests


def add_tasks(
    files: Sequence[Path],
    fields: dict[str, Any],
    to: str | None,
    output: Output,
    config_path: Path | None,
    hosts_path: Path | None,
    store: str | None,
    url: str | None = None,
) -> None:
    config = load(config_path, hosts_path, store)
    if url is not None:
        _add_over_http(url, files, fields, to, output, config)
        return
    book = open_book(config.store_at) if exists(config.store_at) else None
    run = _target(book, to)
    plan = _plan(files, fields, run)
    if problems := check_hosts(plan, config.core_hosts(), config.core_families(), config.core_routes()):
        raise PlanRefused(problems)
    check_ids(plan.tasks, run)
    tasks = labelled(plan.tasks)
    name = run.name if run is not None else ADDED_RUN
    heard = _ask(config, adding(name, time.time(), tasks))
    goes_on = command_for(run) if run is not None else "manyhands serve"
    _tell([task.id for task in tasks], name, "" if heard else f"; it will be taken up by `{goes_on}`", output)


def _tell(ids: Sequence[str], run: str, when: str, output: Output) -> None:
    print_rows([{"task": id, "run": run} for id in ids], output, "task")
    say(f"{len(ids)} {'task' if len(ids) == 1 else 'tasks'} added to run {run}{when}")


def _add_over_http(
    url: str, files: Sequence[Path], fields: dict[str, Any], to: str | None, output: Output, config: Config
) -> None:
    """Whether its hosts can take them and its runs know them, the dispatcher itself finds out."""
    from manyhands.cli.over_http import Dispatcher

    given = _given(files, fields)
    rows = [msgspec.to_builtins(task) for task in read_plan(files).tasks] if files else [given]
    body = {"tasks": rows} if to is None else {"tasks": rows, "run": to}
    added = Dispatcher(url, config.store_directory).ask("POST", "/tasks", body)
    _tell(added["tasks"], added["run"], "", output)


def _target(book: Book | None, to: str | None) -> Run | None:
    """None: the run of what is added to no other, which is yet to be opened."""
    if to is None:
        return book.runs.get(ADDED_RUN) if book is not None else None
    if book is None:
        raise UsageError(f"there is no run `{to}`: nothing has been run here yet", "leave `--to` out")
    return find_run(book, to)


def _given(files: Sequence[Path], fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of one task, as a plan has them."""
    given = {name: value for name, value in fields.items() if value not in (None, [], "")}
    if bool(files) == bool(given):
        hint = "`manyhands add tasks.toml` or `manyhands add --id lint --run 'ruff check'`"
        raise UsageError("give either plan files or the fields of one task", hint)
    return {name: _argv(name, value) if name in ("run", "check") else value for name, value in given.items()}


def _plan(files: Sequence[Path], fields: dict[str, Any], run: Run | None) -> Plan:
    given = _given(files, fields)
    if files:
        return read_plan(files)
    gathering = Gathering()
    gathering.begin("command line")
    task = task_from(given, sheet_of_row("command line", 0, gathering.problems))
    if task is None:
        raise PlanRefused(gathering.problems.kept)
    check_needs([task], run)
    gathering.places.add(0)
    return Plan([task], PlanSettings(), "command line", gathering.places)


def _argv(name: str, command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as error:
        raise UsageError(f"`--{name}` cannot be taken apart: {error}", "quote it as a shell would want it") from None


def _ask(config: Config, wanted: Sequence[Input]) -> bool:
    """Whether a dispatcher has heard of it."""
    make(config.store_at, config.store.durability)
    asking = open_requests(config.store_at, config.store.durability)
    try:
        for event in wanted:
            asking.ask(event)
        return asking.heard
    finally:
        asking.close()
