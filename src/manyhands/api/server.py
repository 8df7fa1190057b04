"""Serves the HTTP application inside the dispatcher's own loop, on the loopback address."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import uvicorn
from starlette.types import ASGIApp

from manyhands.errors import Unavailable, UsageError

LOOPBACK = "127.0.0.1"
DEFAULT_PORT = 8642
#: How long answers under way may take when the server is asked to stop.
GRACE_S = 2


@asynccontextmanager
async def serving(app: ASGIApp, port: int = DEFAULT_PORT, address: str = LOOPBACK) -> AsyncIterator[str]:
    """The server's URL, while it serves. Port 0 takes any that is free."""
    listening = _listen(address, port)
    server = _Server(
        uvicorn.Config(
            app, log_config=None, access_log=False, lifespan="off", ws="none", timeout_graceful_shutdown=GRACE_S
        )
    )
    task = asyncio.create_task(server.serve([listening]))
    try:
        await server.wait_up(task)
        yield f"http://{LOOPBACK}:{listening.getsockname()[1]}"
    finally:
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


def _listen(address: str, port: int) -> socket.socket:
    if address != LOOPBACK:
        raise UsageError(
            f"cannot serve on `{address}`: beyond loopback needs a token, which this version does not have",
            f"leave the address out for {LOOPBACK}; `ssh -L {port}:{LOOPBACK}:{port}` reaches it from elsewhere",
        )
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((address, port))
    except OSError as error:
        listening.close()
        raise Unavailable(
            f"cannot serve on {address} port {port}: {error.strerror}", "`--port 0` takes any port that is free"
        ) from None
    return listening
