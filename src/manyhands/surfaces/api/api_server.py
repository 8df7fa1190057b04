"""Serves the HTTP application inside the dispatcher's event loop, on the loopback address by default."""

import ipaddress
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple

from starlette.types import ASGIApp

from manyhands.engine.redaction import Secrets
from manyhands.engine.store.contract.env_vault import EnvVault
from manyhands.engine.store.store_opening import Where
from manyhands.errors import UsageError
from manyhands.http_serving import listen, listen_at, serving
from manyhands.surfaces.api.api_app import make_app
from manyhands.surfaces.api.api_context import ApiContext
from manyhands.surfaces.api.token import token_of
from manyhands.surfaces.api.watched import Watched

LOOPBACK = "127.0.0.1"
DEFAULT_PORT = 8642
#: How long running answers may take when the server is asked to stop.
GRACE_S = 2


class ApiServer(NamedTuple):
    url: str
    token: str
    socket_file: Path | None = None

    @property
    def entry(self) -> str:
        """A browser that opens this address may send commands from then on."""
        return f"{self.url}/?token={self.token}"


@asynccontextmanager
async def offering(
    dispatcher: Watched,
    directory: Path,
    port: int = DEFAULT_PORT,
    address: str = LOOPBACK,
    *,
    where: Where | None = None,
    secrets: Secrets | None = None,
    mounted: Mapping[str, ASGIApp] | None = None,
    socket_file: Path | None = None,
) -> AsyncIterator[ApiServer]:
    """Serves the page and the API of a dispatcher. Its journal is in `directory`, or at `where`.

    With `socket_file` it serves at that Unix socket and at no port. `mounted` has applications of others:
    path → application.
    """
    beyond_loopback = socket_file is None and not is_loopback(address)
    token = token_of(directory)
    secrets = secrets or Secrets(os.environ, vault=EnvVault(directory))
    secrets.know([token])
    served = make_app(ApiContext(dispatcher, directory, where or directory, secrets), beyond_loopback, mounted)
    try:
        with nullcontext(listen(address, port)) if socket_file is None else listen_at(socket_file) as listening:
            url = f"unix:{socket_file}" if socket_file else f"http://{_shown(address)}:{listening.getsockname()[1]}"
            async with serving(served.app, listening, GRACE_S, before_end=served.close):
                yield ApiServer(url, token, socket_file)
    finally:
        served.close()


def is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        raise UsageError(
            f"cannot serve on `{address}`: it is not an IP address",
            f"{LOOPBACK} serves this machine only, 0.0.0.0 serves every network it is on",
        ) from None


def _shown(address: str) -> str:
    """The address to open in a browser; for all addresses of this machine, the loopback address."""
    if ipaddress.ip_address(address).is_unspecified:
        return LOOPBACK
    return f"[{address}]" if ":" in address else address
