"""`manyhands task cancel|retry|defer|resume|publish|edit`: durable requests to the dispatcher, the live or the next."""

from typing import TYPE_CHECKING

import msgspec

from manyhands.engine.task_wishes import WISHES
from manyhands.sources.config.config_types import Config
from manyhands.surfaces.cli.printing import say
from manyhands.surfaces.cli.settings import Settings
from manyhands.surfaces.cli.task_options import ChosenTasks, TaskEdits
from manyhands.surfaces.verbs.edit_verbs import edit_task as edit_verb
from manyhands.surfaces.verbs.edit_verbs import task_change
from manyhands.surfaces.verbs.request_verbs import ask, none_of, wish_for_tasks
from manyhands.surfaces.verbs.store_view import View
from manyhands.surfaces.verbs.task_choice import TaskChoice, check_choice

if TYPE_CHECKING:
    from manyhands.surfaces.cli.over_http import RemoteDispatcher


def ask_of_tasks(verb: str, chosen: ChosenTasks, settings: Settings, url: str | None = None) -> None:
    config = settings.load()
    choice = TaskChoice(chosen.tasks, chosen.state)
    if url is not None:
        _ask_over_http(verb, choice, chosen.run, url, config)
        return
    view = View(config)
    say(ask(view, wish_for_tasks(view, verb, choice, chosen.run)).done)


def edit_task(id: str, edits: TaskEdits, run: str | None, settings: Settings, url: str | None) -> None:
    needs = None if edits.needs is None else tuple(dict.fromkeys(filter(None, edits.needs.split(","))))
    change = task_change(edits.priority, needs, edits.title, edits.prompt, edits.stage)
    config = settings.load()
    if url is None:
        view = View(config)
        say(ask(view, edit_verb(view, id, run, change)).done)
        return
    from manyhands.surfaces.cli.over_http import RemoteDispatcher, path_of

    dispatcher = RemoteDispatcher(url, config.store_directory)
    path = path_of("tasks", run or dispatcher.run_of(id), id)
    say(dispatcher.ask("PATCH", path, msgspec.to_builtins(change))["done"])


def _ask_over_http(verb: str, choice: TaskChoice, run: str | None, url: str, config: Config) -> None:
    from manyhands.surfaces.cli.over_http import RemoteDispatcher, path_of

    check_choice(choice, verb)
    dispatcher = RemoteDispatcher(url, config.store_directory)
    if choice.is_one:
        id = choice.ids[0]
        say(dispatcher.ask("POST", path_of("tasks", run or dispatcher.run_of(id), id, verb))["done"])
        return
    for name, id in _able_over_http(dispatcher, verb, choice, run):
        say(dispatcher.ask("POST", path_of("tasks", name, id, verb))["done"])


def _able_over_http(
    dispatcher: "RemoteDispatcher", verb: str, choice: TaskChoice, run: str | None
) -> list[tuple[str, str]]:
    name = run or dispatcher.newest_run()
    rows = [row for row in dispatcher.tasks_of(name) if choice.has(row["task"], row["state"])]
    able = [row for row in rows if row["state"] in WISHES[verb].allowed]
    if not able:
        raise none_of(name, choice, verb, {row["state"] for row in rows})
    return [(name, row["task"]) for row in able]
