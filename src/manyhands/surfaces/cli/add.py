"""`manyhands add`: more tasks for the dispatcher that runs now or next. They are on disk when the command returns."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from manyhands.errors import UsageError
from manyhands.sources.config.config_types import Config
from manyhands.sources.plans.plan_reading import read_plan
from manyhands.surfaces.cli.add_options import NewTaskOptions
from manyhands.surfaces.cli.printing import OutputFormat, print_json, print_rows, say
from manyhands.surfaces.cli.settings import Settings
from manyhands.surfaces.verbs.plan_verbs import Added, HandedIn, add, not_taken
from manyhands.surfaces.verbs.request_verbs import ask
from manyhands.surfaces.verbs.store_view import View


def add_tasks(
    files: Sequence[Path],
    fields: NewTaskOptions,
    to: str | None,
    output: OutputFormat,
    settings: Settings,
    url: str | None = None,
) -> None:
    config = settings.load()
    if url is not None:
        _add_over_http(url, files, fields, to, output, config)
        return
    view = View(config)
    _tell(ask(view, add(view, _handed_in(files, fields), to)), output)


def _tell(added: Added, output: OutputFormat) -> None:
    if output is OutputFormat.JSON:
        print_json(added)
    else:
        print_rows([{"task": id, "run": added.run} for id in added.tasks], output, "task")
    say(added.done)
    if added.note:
        say(f"note: {added.note}")


def _add_over_http(
    url: str, files: Sequence[Path], fields: NewTaskOptions, to: str | None, output: OutputFormat, config: Config
) -> None:
    """The dispatcher itself checks whether its hosts can take the tasks and whether it knows the run."""
    from manyhands.surfaces.cli.over_http import RemoteDispatcher

    given = _given(files, fields)
    plan = read_plan(files) if files else None
    rows = [given] if plan is None else [msgspec.to_builtins(task) for task in plan.tasks]
    body = {"tasks": rows} if to is None else {"tasks": rows, "run": to}
    _tell(msgspec.convert(RemoteDispatcher(url, config.store_directory).ask("POST", "/tasks", body), Added), output)
    if plan is not None and (left := not_taken(plan)):
        say(f"note: {left}")


def _given(files: Sequence[Path], fields: NewTaskOptions) -> dict[str, Any]:
    """The fields of one task, as in a plan."""
    given = {name: value for name, value in fields._asdict().items() if value not in (None, [], "")}
    if bool(files) == bool(given):
        hint = "`manyhands add tasks.toml` or `manyhands add --id lint --run 'ruff check'`"
        raise UsageError("give either plan files or the fields of one task", hint)
    return {name: _argv(name, value) if name in ("run", "check") else value for name, value in given.items()}


def _handed_in(files: Sequence[Path], fields: NewTaskOptions) -> HandedIn:
    given = _given(files, fields)
    return HandedIn(files) if files else HandedIn(rows=[given], rows_from="command line")


def _argv(name: str, command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as error:
        raise UsageError(
            f"`--{name}` is not a command that can be split into words: {error}", "quote it as for a shell"
        ) from None
