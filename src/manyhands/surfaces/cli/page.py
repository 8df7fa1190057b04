"""`manyhands page`: the page of a run from its store, served or saved."""

import asyncio
import os
import signal
import sys
import webbrowser
from pathlib import Path
from urllib.parse import quote

from manyhands.core.state import Run
from manyhands.errors import UsageError
from manyhands.surfaces.cli.printing import say
from manyhands.surfaces.cli.settings import Settings
from manyhands.surfaces.verbs.store_view import View, find_run


def save_page(name: str | None, file: Path, settings: Settings) -> int:
    view = View(settings.load())
    run = find_run(view.book, name)
    from manyhands.surfaces.api.offline import OfflineRequest, answer

    if not file.absolute().parent.is_dir():
        raise UsageError(f"there is no directory `{file.absolute().parent}`", "create it, or name another file")
    place = view.place
    wanted = OfflineRequest("html", str(place), not isinstance(place, str), run.name, secrets=view.secrets.known)
    whole = b"".join(answer(wanted))
    try:
        file.write_bytes(whole)
    except OSError as error:
        raise UsageError(f"cannot write `{file}`: {error.strerror}", "name another file") from None
    say(f"run {run.name} is in {file} ({len(whole) / 1e6:.1f} MB); open it with a browser")
    return 0


def open_page(name: str | None, port: int, settings: Settings) -> int:
    view = View(settings.load())
    find_run(view.book, name)  # a wrong name is reported before a web server is loaded
    asyncio.run(_serve(view, name, port))
    return 0


async def _serve(view: View, name: str | None, port: int) -> None:
    from manyhands.surfaces.api.api_server import offering
    from manyhands.surfaces.api.store_follower import following

    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with (
        following(view.place) as follower,
        offering(follower, view.directory, port, where=view.place, secrets=view.secrets) as offered,
    ):
        address = f"{offered.url}/{address_of(find_run(follower.book, name))}"
        say(f"page: {address}")
        say("press Ctrl-C to stop serving it")
        if sys.stderr.isatty():
            open_in_browser(address)
        await stop.wait()


def address_of(run: Run) -> str:
    """A run that has ended opens at its end, with all that its journal tells. An open one is followed."""
    return f"#/?run={quote(run.name)}" + ("&replay=end" if run.ended_at is not None else "")


def open_in_browser(address: str) -> None:
    if _has_browser():
        webbrowser.open(address)


def _has_browser() -> bool:
    """A browser with windows: without a display, `webbrowser` would open one in this terminal."""
    return sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
