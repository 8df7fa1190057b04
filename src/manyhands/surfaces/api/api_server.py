"""Serves the HTTP application inside the dispatcher's own loop; on the loopback address unless told otherwise."""

import asyncio
import ipaddress
import os
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import NamedTuple

import uvicorn
from starlette.types import ASGIApp

from manyhands.engine.dispatcher import Dispatcher
from manyhands.engine.redaction import Secrets
from manyhands.engine.store.store_opening import Where
from manyhands.errors import Unavailable, UsageError
from manyhands.surfaces.api.api_app import make_app
from manyhands.surfaces.api.api_context import ApiContext
from manyhands.surfaces.api.token import token_of

LOOPBACK = "127.0.0.1"
DEFAULT_PORT = 8642
#: How long answers under way may take when the server is asked to stop.
GRACE_S = 2


class ApiServer(NamedTuple):
    url: str
    token: str

    @property
    def entry(self) -> str:
        """Opened in a browser, it may command from then on."""
        return f"{self.url}/?token={self.token}"


@asynccontextmanager
async def offering(
    dispatcher: Dispatcher,
    directory: Path,
    port: int = DEFAULT_PORT,
    address: str = LOOPBACK,
    *,
    where: Where | None = None,
    secrets: Secrets | None = None,
) -> AsyncIterator[ApiServer]:
    """The page and the API of a dispatcher, for as long as it is wanted. Its journal is in `directory`, or `where`."""
    beyond_loopback = not is_loopback(address)
    token = token_of(directory)
    secrets = secrets or Secrets(os.environ)
    secrets.know([token])
    served = make_app(ApiContext(dispatcher, directory, where or directory, secrets), token, beyond_loopback)
    try:
        async with serving(served.app, port, address, before_end=served.close) as url:
            yield ApiServer(url, token)
    finally:
        served.close()


def is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        raise UsageError(
            f"cannot serve on `{address}`: it is no IP address", f"{LOOPBACK} is this machine alone, 0.0.0.0 all of it"
        ) from None


@asynccontextmanager
async def serving(
    app: ASGIApp, port: int = DEFAULT_PORT, address: str = LOOPBACK, before_end: Callable[[], None] = lambda: None
) -> AsyncIterator[str]:
    """The server's URL, while it serves. Port 0 takes any that is free."""
    listening = _listen(address, port)
    server = _Server(
        uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            lifespan="off",
            ws="none",
            server_header=False,
            timeout_graceful_shutdown=GRACE_S,
        )
    )
    task = asyncio.create_task(server.serve([listening]))
    try:
        await server.wait_up(task)
        yield f"http://{_shown(address)}:{listening.getsockname()[1]}"
    finally:
        before_end()
        server.should_exit = True
        await asyncio.wait({task}, timeout=GRACE_S + 1)
        listening.close()


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._up = asyncio.Event()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # the signals are the dispatcher's

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._up.set()

    async def wait_up(self, task: asyncio.Task[None]) -> None:
        up = asyncio.ensure_future(self._up.wait())
        await asyncio.wait({up, task}, return_when=asyncio.FIRST_COMPLETED)
        if not up.done():
            up.cancel()
            task.result()


def _shown(address: str) -> str:
    """The address to open: of all addresses of this machine, the one it has for itself."""
    if ipaddress.ip_address(address).is_unspecified:
        return LOOPBACK
    return f"[{address}]" if ":" in address else address


def _listen(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((address, port))
    except OSError as error:
        listening.close()
        raise Unavailable(
            f"cannot serve on {address} port {port}: {error.strerror}", "`--port 0` takes any port that is free"
        ) from None
    return listening
