"""`manyhands host pause|resume|width`: asked durably of whoever dispatches now, or next."""

from pathlib import Path

from manyhands.cli.output import say
from manyhands.cli.settings import load
from manyhands.verbs import wishes
from manyhands.verbs.views import View


def pause(name: str, why: str, config_path: Path | None, store: str | None) -> None:
    say(wishes.pause_host(View(load(config_path, None, store)), name, why).done)


def resume(name: str, config_path: Path | None, store: str | None) -> None:
    say(wishes.resume_host(View(load(config_path, None, store)), name).done)


def set_width(name: str, width: int | None, config_path: Path | None, store: str | None) -> None:
    say(wishes.set_width(View(load(config_path, None, store)), name, width).done)
