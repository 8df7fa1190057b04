"""`manyhands top`: opens the store or the address, and then the screen."""

import sys

from manyhands.errors import UsageError
from manyhands.surfaces.cli.settings import Settings


def watch_top(run: str | None, url: str | None, settings: Settings) -> int:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("`manyhands top` needs a terminal", "`manyhands task` and `manyhands lane` print lists")
    from manyhands.surfaces.cli.top_of_store import StoreSource
    from manyhands.surfaces.cli.top_source import TopSource

    config = settings.load()
    source: TopSource
    if url is None:
        source = StoreSource(config)
    else:
        from manyhands.surfaces.cli.over_http import RemoteDispatcher
        from manyhands.surfaces.cli.top_of_address import AddressSource

        source = AddressSource(RemoteDispatcher(url, config.store_directory), url)
    source.look(run, "")  # a wrong name or address is told before the screen changes
    from manyhands.surfaces.cli.top_app import TopApp

    TopApp(source, run).run()
    return 0
