"""`manyhands task cancel|retry|defer|resume`: asked durably of whoever dispatches now, or next."""

from pathlib import Path

from manyhands.cli.output import say
from manyhands.cli.settings import load
from manyhands.config.model import Config
from manyhands.verbs import wishes
from manyhands.verbs.views import View


def ask_of_task(
    verb: str, id: str, run: str | None, config_path: Path | None, store: str | None, url: str | None = None
) -> None:
    config = load(config_path, None, store)
    if url is not None:
        _ask_over_http(verb, id, run, url, config)
        return
    say(wishes.ask_of_task(View(config), verb, id, run).done)


def _ask_over_http(verb: str, id: str, run: str | None, url: str, config: Config) -> None:
    from manyhands.cli.over_http import Dispatcher, path_of

    dispatcher = Dispatcher(url, config.store_directory)
    say(dispatcher.ask("POST", path_of("tasks", run or dispatcher.run_of(id), id, verb))["done"])
