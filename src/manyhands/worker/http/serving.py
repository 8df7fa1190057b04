"""Serves the model worker until it is told to stop. Serving beyond loopback requires a token."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.types import ASGIApp

from manyhands import http_serving
from manyhands.errors import UsageError

LOOPBACK = ("127.0.0.1", "::1", "localhost")
DEFAULT_PORT = 8650
#: How long running requests may still take when the server is asked to stop.
GRACE_S = 5


@asynccontextmanager
async def serving(app: ASGIApp, address: str, port: int, token: str) -> AsyncIterator[str]:
    """Serve for the time of the `async with` block and yield the server's URL. Port 0 takes any free port."""
    if address not in LOOPBACK and not token:
        raise UsageError(
            f"cannot serve on `{address}` without a token: anyone could use the models",
            "name the environment variable that holds one with `--token-env NAME`",
        )
    listening = http_serving.listen(address, port)
    port_taken = listening.getsockname()[1]
    async with http_serving.serving(app, listening, GRACE_S):
        shown = f"[{address}]" if ":" in address else address
        yield f"http://{shown}:{port_taken}"
