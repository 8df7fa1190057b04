"""Serves an ASGI application in the running event loop, for as long as its caller wants."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

import uvicorn
from starlette.types import ASGIApp

from manyhands.errors import Unavailable


@asynccontextmanager
async def serving(
    app: ASGIApp, address: str, port: int, grace_s: int, before_end: Callable[[], None] = lambda: None
) -> AsyncIterator[int]:
    """The port, while it serves. Port 0 takes any free port.

    At the end, `before_end` is called first; then running answers have `grace_s` seconds to finish.
    """
    listening = _listen(address, port)
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",
        ws="none",
        server_header=False,
        timeout_graceful_shutdown=grace_s,
    )
    server = _Server(config)
    task = asyncio.create_task(server.serve([listening]))
    try:
        await server.wait_up(task)
        yield listening.getsockname()[1]
    finally:
        before_end()
        server.should_exit = True
        await asyncio.wait({task}, timeout=grace_s + 1)
        listening.close()


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._up = asyncio.Event()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # signals belong to the program around it, which finishes its own work first

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
