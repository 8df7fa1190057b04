"""`manyhands store copy`: copies a journal from one store to another."""

from pathlib import Path

from manyhands.engine.store.copying import copy
from manyhands.engine.store.store_opening import Where, printable
from manyhands.errors import UsageError
from manyhands.quantities import how_many_wait, quantity
from manyhands.sources.config.database_url import is_database, is_url, without_secrets
from manyhands.surfaces.cli.printing import OutputFormat, print_json, put, say


def copy_store(source: str, target: str, output: OutputFormat) -> None:
    old, new = _where(source), _where(target)
    copied = copy(old, new)
    if output is OutputFormat.JSON:
        print_json({"from": printable(old), "to": printable(new), **copied._asdict()})
    elif output is OutputFormat.IDS:
        put(f"{printable(new)}\n")
    else:
        what = f"{quantity(copied.events, 'event')}, checksum {copied.checksum}, verified"
        say(f"copied {printable(old)} to {printable(new)}: {what}")
        if copied.requests:
            say(f"{how_many_wait(copied.requests, 'request')} for a dispatcher in the new store")


def _where(store: str) -> Where:
    if not is_url(store):
        return Path(store).absolute()
    if not is_database(store):
        raise UsageError(
            f"`{without_secrets(store)}` is not a store", "name a directory, or postgresql://user@host/database"
        )
    return store
