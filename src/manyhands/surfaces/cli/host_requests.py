"""`manyhands host pause|resume|width`: durable requests to the dispatcher that runs now, or next."""

from manyhands.surfaces.cli.printing import say
from manyhands.surfaces.cli.settings import Settings
from manyhands.surfaces.verbs import host_verbs
from manyhands.surfaces.verbs.request_verbs import ask
from manyhands.surfaces.verbs.store_view import View


def pause(name: str, why: str, settings: Settings) -> None:
    view = View(settings.load())
    say(ask(view, host_verbs.pause_host(view, name, why)).done)


def resume(name: str, settings: Settings) -> None:
    view = View(settings.load())
    say(ask(view, host_verbs.resume_host(view, name)).done)


def set_width(name: str, width: int | None, settings: Settings) -> None:
    view = View(settings.load())
    say(ask(view, host_verbs.set_width(view, name, width)).done)
