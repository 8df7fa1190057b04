"""`manyhands task cancel|retry|defer|resume`: asked durably of whoever dispatches now, or next."""

import time
from pathlib import Path

from manyhands.cli.output import say
from manyhands.cli.settings import load
from manyhands.cli.views import command_for, find_task, open_book
from manyhands.config.model import Config
from manyhands.runtime.wishes import WISHES
from manyhands.store.opening import open_requests


def ask_of_task(
    verb: str, id: str, run: str | None, config_path: Path | None, store: str | None, url: str | None = None
) -> None:
    config = load(config_path, None, store)
    if url is not None:
        _ask_over_http(verb, id, run, url, config)
        return
    wish = WISHES[verb]
    book = open_book(config.store_at)
    record = find_task(book, id, run)
    wish.check(record)
    asking = open_requests(config.store_at, config.store.durability)
    try:
        asking.ask(wish.event(time.time(), record.run, record.task.id))
        heard = asking.heard
    finally:
        asking.close()
    if heard:
        say(f"task {id} of run {record.run} is being {wish.done}")
    else:
        goes_on = command_for(book.runs[record.run])
        say(f"task {id} of run {record.run} will be {wish.done} when it goes on: `{goes_on}`")


def _ask_over_http(verb: str, id: str, run: str | None, url: str, config: Config) -> None:
    from manyhands.cli.over_http import Dispatcher, path_of

    dispatcher = Dispatcher(url, config.store_directory)
    say(dispatcher.ask("POST", path_of("tasks", run or dispatcher.run_of(id), id, verb))["done"])
