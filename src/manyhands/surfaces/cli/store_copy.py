"""`manyhands store copy`: copies a journal from one store to another."""

from pathlib import Path

from manyhands.engine.store.copying import copy
from manyhands.engine.store.store_opening import Where, shown
from manyhands.errors import UsageError
from manyhands.sources.config.database_url import is_database, is_url, without_secrets
from manyhands.surfaces.cli.printing import OutputFormat, print_json, put, say


def copy_store(source: str, target: str, output: OutputFormat) -> None:
    old, new = _where(source), _where(target)
    copied = copy(old, new)
    if output is OutputFormat.JSON:
        print_json({"from": shown(old), "to": shown(new), **copied._asdict()})
    elif output is OutputFormat.IDS:
        put(f"{shown(new)}\n")
    else:
        say(f"copied {shown(old)} to {shown(new)}: {copied.events:,} events, checksum {copied.checksum}, verified")
        if copied.requests:
            say(f"{copied.requests:,} requests wait for a dispatcher in the new store")


def _where(store: str) -> Where:
    if not is_url(store):
        return Path(store).absolute()
    if not is_database(store):
        raise UsageError(
            f"`{without_secrets(store)}` is not a store", "name a directory, or postgresql://user@host/database"
        )
    return store
