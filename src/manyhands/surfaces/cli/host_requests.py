"""`manyhands host pause|resume|width`: durable requests to the dispatcher that runs now, or next."""

from manyhands.surfaces.cli.printing import say
from manyhands.surfaces.cli.settings import Settings
from manyhands.surfaces.verbs import request_verbs
from manyhands.surfaces.verbs.store_view import View


def pause(name: str, why: str, settings: Settings) -> None:
    say(request_verbs.pause_host(View(settings.load()), name, why).done)


def resume(name: str, settings: Settings) -> None:
    say(request_verbs.resume_host(View(settings.load()), name).done)


def set_width(name: str, width: int | None, settings: Settings) -> None:
    say(request_verbs.set_width(View(settings.load()), name, width).done)
