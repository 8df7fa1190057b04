"""`manyhands task cancel|retry|defer|resume`: durable requests to the dispatcher that runs now, or next."""

from manyhands.sources.config.config_types import Config
from manyhands.surfaces.cli.printing import say
from manyhands.surfaces.cli.settings import Settings
from manyhands.surfaces.verbs.request_verbs import ask, wish_for_task
from manyhands.surfaces.verbs.store_view import View


def ask_of_task(verb: str, id: str, run: str | None, settings: Settings, url: str | None = None) -> None:
    config = settings.load()
    if url is not None:
        _ask_over_http(verb, id, run, url, config)
        return
    view = View(config)
    say(ask(view, wish_for_task(view, verb, id, run)).done)


def _ask_over_http(verb: str, id: str, run: str | None, url: str, config: Config) -> None:
    from manyhands.surfaces.cli.over_http import RemoteDispatcher, path_of

    dispatcher = RemoteDispatcher(url, config.store_directory)
    say(dispatcher.ask("POST", path_of("tasks", run or dispatcher.run_of(id), id, verb))["done"])
