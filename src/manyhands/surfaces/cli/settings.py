"""The configuration as the options of a command give it."""

from pathlib import Path

from manyhands.sources.config.config_reading import load_config
from manyhands.sources.config.config_types import Config
from manyhands.sources.config.database_url import is_url


def load(
    config_file: Path | None, hosts_file: Path | None, store: str | None, concurrency: int | None = None
) -> Config:
    """Who says `--concurrency N` and has no hosts configured wants N at once, not a clutch that finds it."""
    # A path on the command line is meant from where the command is typed, one in the file from the file.
    flags = {} if store is None else _store_flags(store)
    return load_config(config_file=config_file, hosts_file=hosts_file, flags=flags, default_width=concurrency)


def _store_flags(store: str) -> dict[str, str]:
    """A directory on the command line goes before a database in the file, and the other way round."""
    return {"store.url": store} if is_url(store) else {"store.dir": str(Path(store).absolute()), "store.url": ""}
