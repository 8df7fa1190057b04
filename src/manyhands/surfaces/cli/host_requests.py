"""`manyhands host pause|resume|width`: asked durably of whoever dispatches now, or next."""

from pathlib import Path

from manyhands.surfaces.cli.printing import say
from manyhands.surfaces.cli.settings import load
from manyhands.surfaces.verbs import request_verbs
from manyhands.surfaces.verbs.store_view import View


def pause(name: str, why: str, config_path: Path | None, store: str | None) -> None:
    say(request_verbs.pause_host(View(load(config_path, None, store)), name, why).done)


def resume(name: str, config_path: Path | None, store: str | None) -> None:
    say(request_verbs.resume_host(View(load(config_path, None, store)), name).done)


def set_width(name: str, width: int | None, config_path: Path | None, store: str | None) -> None:
    say(request_verbs.set_width(View(load(config_path, None, store)), name, width).done)
