"""`manyhands host pause|resume|width`: asked durably of whoever dispatches now, or next."""

import time
from pathlib import Path

from manyhands.cli.output import say
from manyhands.cli.settings import load
from manyhands.cli.views import open_book
from manyhands.config.model import Config
from manyhands.core.events import HostPaused, HostResumed, Input, WidthSet
from manyhands.core.state import HostState
from manyhands.errors import Conflict, UsageError
from manyhands.inputs.problems import did_you_mean
from manyhands.store.opening import exists, make, open_requests


def pause(name: str, why: str, config_path: Path | None, store: str | None) -> None:
    config = load(config_path, None, store)
    _known(config, name)
    _ask(config, HostPaused(time.time(), name, why), f"host {name} takes nothing more until it is resumed")


def resume(name: str, config_path: Path | None, store: str | None) -> None:
    config = load(config_path, None, store)
    host = _known(config, name)
    if host is None or host.paused is None:
        raise Conflict(f"host `{name}` is not paused", "`manyhands host` says how it is")
    _ask(config, HostResumed(time.time(), name), f"host {name} goes on")


def set_width(name: str, width: int | None, config_path: Path | None, store: str | None) -> None:
    config = load(config_path, None, store)
    _known(config, name)
    to = "is free again: the clutch decides" if width is None else f"is {width}"
    _ask(config, WidthSet(time.time(), name, width), f"the width of {name} {to}")


def _known(config: Config, name: str) -> HostState | None:
    """As the journal knows it; None if it has not been used yet."""
    seen = open_book(config.store_at).hosts if exists(config.store_at) else {}
    names = [host.name for host in config.hosts]
    if name not in names and name not in seen:
        raise UsageError(f"there is no host `{name}`", did_you_mean(name, names) or f"the hosts are {', '.join(names)}")
    return seen.get(name)


def _ask(config: Config, wish: Input, done: str) -> None:
    make(config.store_at, config.store.durability)
    asking = open_requests(config.store_at, config.store.durability)
    try:
        asking.ask(wish)
        heard = asking.heard
    finally:
        asking.close()
    say(done if heard else f"{done}; from the next `manyhands run` or `serve` on")
