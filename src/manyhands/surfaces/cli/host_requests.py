"""`manyhands host pause|resume|width`: asked durably of whoever dispatches now, or next."""

from pathlib import Path

from manyhands.surfaces.cli.printing import say
from manyhands.surfaces.cli.settings import load
from manyhands.surfaces.verbs import host_verbs
from manyhands.surfaces.verbs.request_verbs import ask
from manyhands.surfaces.verbs.store_view import View


def pause(name: str, why: str, config_path: Path | None, store: str | None) -> None:
    view = View(load(config_path, None, store))
    say(ask(view, host_verbs.pause_host(view, name, why)).done)


def resume(name: str, config_path: Path | None, store: str | None) -> None:
    view = View(load(config_path, None, store))
    say(ask(view, host_verbs.resume_host(view, name)).done)


def set_width(name: str, width: int | None, config_path: Path | None, store: str | None) -> None:
    view = View(load(config_path, None, store))
    say(ask(view, host_verbs.set_width(view, name, width)).done)
