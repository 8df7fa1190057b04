"""The page of a dispatcher as commands offer it: where it is, and what is kept out of it."""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from manyhands.cli.output import say
from manyhands.config.model import Config, OpenaiHost
from manyhands.errors import Unavailable
from manyhands.runtime.dispatcher import Dispatcher
from manyhands.runtime.secrets import Secrets
from manyhands.store.opening import Where

if TYPE_CHECKING:
    from manyhands.api.server import Offered


def secrets_of(config: Config) -> Secrets:
    keys = [host.api_key_env for host in config.hosts if isinstance(host, OpenaiHost) and host.api_key_env]
    secrets = Secrets(os.environ, keys)
    for host in config.hosts:
        secrets.learn(getattr(host, "env", {}))
    return secrets


def say_address(offered: "Offered") -> None:
    """The token goes to a person's eyes alone, never to where a terminal's output is kept."""
    say(f"page: {offered.entry if sys.stderr.isatty() else offered.url}")


@asynccontextmanager
async def page_beside(
    dispatcher: Dispatcher, directory: Path, where: Where | None = None, secrets: Secrets | None = None, port: int = 0
) -> AsyncIterator["Offered"]:
    """The page of a run that would go on without it: at the usual port, or if that is taken at any other."""
    # Imported here: what only reads the config has no need of a web server.
    from manyhands.api.server import DEFAULT_PORT, offering

    async with AsyncExitStack() as stack:
        try:
            offered = await stack.enter_async_context(
                offering(dispatcher, directory, port or DEFAULT_PORT, where=where, secrets=secrets)
            )
        except Unavailable:
            offered = await stack.enter_async_context(offering(dispatcher, directory, 0, where=where, secrets=secrets))
        yield offered
