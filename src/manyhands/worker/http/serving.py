"""Serves the application in the running loop until it is told to stop; beyond loopback only with a token."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import uvicorn
from starlette.types import ASGIApp

from manyhands.errors import Unavailable, UsageError

LOOPBACK = ("127.0.0.1", "::1", "localhost")
DEFAULT_PORT = 8650
#: How long answers under way may take when the server is asked to stop.
GRACE_S = 5


@asynccontextmanager
async def serving(app: ASGIApp, address: str, port: int, token: str) -> AsyncIterator[str]:
    """The server's URL, while it serves. Port 0 takes any that is free."""
    if address not in LOOPBACK and not token:
        raise UsageError(
            f"cannot serve on `{address}` without a token: anyone could use the models",
            "`--token-env NAME` names the variable that has one",
        )
    listening = _listen(address, port)
    server = _Server(
        uvicorn.Config(
            app, log_config=None, access_log=False, lifespan="off", ws="none", timeout_graceful_shutdown=GRACE_S
        )
    )
    task = asyncio.create_task(server.serve([listening]))
    try:
        await server.wait_up(task)
        shown = f"[{address}]" if ":" in address else address
        yield f"http://{shown}:{listening.getsockname()[1]}"
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
        yield  # the signals are the worker's: it finishes what it has taken first

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
