"""`manyhands route`: lists where results go, what waits and what was given up, and sends that again."""

import time
from collections import Counter
from collections.abc import Collection, Sequence

from manyhands.core.events import ResendAsked
from manyhands.core.outbox import Outbox
from manyhands.engine.store.store_opening import exists, open_requests
from manyhands.errors import Conflict, UsageError
from manyhands.quantities import how_many_are, how_many_were
from manyhands.sources.config.config_types import Config
from manyhands.surfaces.cli.printing import OutputFormat, print_rows, say
from manyhands.surfaces.cli.settings import Settings
from manyhands.surfaces.verbs.store_view import open_book

#: The fields that tell where a sink is; the first one that is set is shown.
_PLACES = ("path", "stream", "table", "url", "url_env")


def say_undelivered(outbox: Outbox, dead_before: Collection[int]) -> None:
    """Says after a run which results have not arrived, and what to do about it."""
    if waiting := len(outbox.waiting):
        are = how_many_are(waiting, "result")
        say(
            f"{are} not delivered yet: the next `manyhands run` or `serve` continues with that\n"
            "hint: `manyhands route` lists what waits"
        )
    if dead := sum(number not in dead_before for number in outbox.dead):
        were = how_many_were(dead, "result")
        say(f"{were} given up\nhint: `manyhands route dead` says why, `manyhands route resend` sends again")


def list_routes(output: OutputFormat, settings: Settings) -> None:
    config = settings.load()
    outbox = _outbox(config)
    waiting = Counter((one.app, one.sink) for one in outbox.waiting.values())
    dead = Counter((one.delivery.app, one.delivery.sink) for one in outbox.dead.values())
    shown = {app: route.for_people() for app, route in config.routes.items()}
    sinks = {(app, name): _shown(sink) for app, route in shown.items() for name, sink in route.named().items()}
    sinks |= {(app, "reply_to"): " ".join(route.reply_to) for app, route in config.routes.items() if route.reply_to}
    rows = [
        {
            "route": f"{app}/{name}",
            "to": sinks.get((app, name), "no longer in the config"),
            "waiting": waiting[app, name],
            "dead": dead[app, name],
        }
        for app, name in dict.fromkeys((*sinks, *waiting, *dead))
    ]
    print_rows(rows, output, "route", none="there are no routes, so results stay in the store")


def _shown(sink: object) -> str:
    kind = sink.__struct_config__.tag  # type: ignore[attr-defined]
    where = next((str(value) for name in _PLACES if (value := getattr(sink, name, ""))), "")
    return f"{kind} {where}"


def list_dead(app: str | None, output: OutputFormat, settings: Settings) -> None:
    outbox = _outbox(settings.load())
    rows = [
        {
            "letter": number,
            "app": letter.delivery.app,
            "sink": letter.delivery.sink,
            "task": letter.delivery.task,
            "run": letter.delivery.run,
            "tries": letter.tries,
            "error": letter.error,
        }
        for number, letter in outbox.dead.items()
        if app in (None, letter.delivery.app)
    ]
    print_rows(rows, output, "letter", none="there are no dead letters")


def resend(letters: Sequence[int], app: str | None, everything: bool, settings: Settings) -> None:
    config = settings.load()
    if bool(letters) + (app is not None) + everything != 1:
        raise UsageError(
            "the letters to send again must be named in one way", "give their numbers, `--app NAME`, or `--all`"
        )
    outbox = _outbox(config)
    unknown = [number for number in letters if number not in outbox.dead]
    if unknown:
        raise Conflict(f"there is no dead letter {unknown[0]}", "`manyhands route dead` lists them")
    count = len(letters) or sum(app in (None, one.delivery.app) for one in outbox.dead.values())
    if not count:
        say("there is nothing to send again: no result was given up")
        return
    now = time.time()
    wishes = [ResendAsked(now, number) for number in letters] or [ResendAsked(now, 0, app or "")]
    asking = open_requests(config.store_at, config.store.durability)
    try:
        for wish in wishes:
            asking.ask(wish)
        heard = asking.heard
    finally:
        asking.close()
    what = how_many_are(count, "result")
    say(f"{what} sent again" + ("" if heard else " by the next `manyhands run` or `serve`"))


def _outbox(config: Config) -> Outbox:
    return open_book(config.store_at).outbox if exists(config.store_at) else Outbox()
