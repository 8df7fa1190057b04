"""The settings that every command shares: where the configuration, the hosts and the journal are."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

from manyhands.surfaces.cli.parsing.declarations import Option

if TYPE_CHECKING:
    from manyhands.sources.config.config_types import Config


class Settings(NamedTuple):
    """As the options give them. They may stand before the noun, after it, and after the verb."""

    config: Annotated[
        Path | None,
        Option(help="Read this manyhands.toml. The default is the nearest one, looked for from here upwards."),
    ] = None
    hosts: Annotated[Path | None, Option(help="Take the [hosts.NAME] tables from this file.")] = None
    store: Annotated[
        str | None,
        Option(metavar="PLACE", help="Where the journal is: a directory (.manyhands if left out) or a postgresql URL."),
    ] = None

    def load(self, default_width: int | None = None) -> "Config":
        """The whole configuration; `default_width` is the width of the host that exists when none is configured."""
        # Imported here: help and wrong usage need no configuration.
        from manyhands.sources.config.config_reading import load_config

        flags = {} if self.store is None else _store_flags(self.store)
        return load_config(config_file=self.config, hosts_file=self.hosts, flags=flags, default_width=default_width)


def _store_flags(store: str) -> dict[str, str]:
    """A directory on the command line takes precedence over a database in the file, and the other way round.

    A path on the command line is relative to the current directory, one in the file to the file.
    """
    from manyhands.sources.config.database_url import is_url

    return {"store.url": store} if is_url(store) else {"store.dir": str(Path(store).absolute()), "store.url": ""}
