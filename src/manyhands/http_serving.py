"""Serves an ASGI application in the running event loop, for as long as its caller wants.

Everything before the application is bounded, because anyone may connect: connections are counted, and the head of a
request has a deadline and a largest size.
"""

import asyncio
import logging
import os
import resource
import socket
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from manyhands.errors import Unavailable

#: A page on a slow line has sent its request long before that.
HEAD_WITHIN_S = 10.0
#: The longest query, and as much again for cookies and other headers.
HEAD_BYTES_MAX = 64 << 10
CONNECTIONS_MAX = 2_000
#: How many connections are accepted in one turn of the loop, before other work has its turn.
ACCEPTED_AT_ONCE = 128
#: One line of each sort in this time is printed.
LINE_EVERY_S = 10.0
SORTS_MAX = 1_000


@asynccontextmanager
async def serving(
    app: ASGIApp, listening: socket.socket, grace_s: int, before_end: Callable[[], None] = lambda: None
) -> AsyncIterator[None]:
    """Serves at a socket of `listen` or `listen_at`, and closes it in the end.

    At the end, `before_end` is called first; then running answers have `grace_s` seconds to finish.
    """
    _log_sparingly()
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",
        ws="none",
        server_header=False,
        http=_BoundedProtocol,
        backlog=ACCEPTED_AT_ONCE,
        timeout_graceful_shutdown=grace_s,
    )
    server = _Server(config)
    task = asyncio.create_task(server.serve([listening]))
    try:
        await server.wait_up(task)
        yield
    finally:
        before_end()
        server.should_exit = True
        await asyncio.wait({task}, timeout=grace_s + 1)
        listening.close()


class _BoundedProtocol(HttpToolsProtocol):
    """Closes a connection that is one too many, or whose next request does not arrive whole and in time."""

    _deadline: asyncio.TimerHandle | None = None
    _is_in_head = False
    _is_answered = True  # no request is being answered: the next one is awaited
    _head_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > connections_max():
            transport.abort()
        else:
            self._set_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_deadline()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._is_in_head:
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES_MAX:
                self.send_400_response(f"The head of a request may have {HEAD_BYTES_MAX} bytes.")
                return
        if self._is_answered and not self.transport.is_closing():
            self._set_deadline()

    def on_message_begin(self) -> None:
        self._is_in_head, self._head_bytes = True, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._is_in_head = self._is_answered = False
        self._cancel_deadline()
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        self._is_answered = not self.pipeline
        super().on_response_complete()

    def _set_deadline(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(HEAD_WITHIN_S, self.transport.abort)

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def connections_max() -> int:
    """A quarter of the descriptors that this process may have: the others are for attempts and the journal."""
    return min(CONNECTIONS_MAX, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 4)


class _Sparingly(logging.Filter):
    """Lets one line of each sort through in a while, and says how many it left out: clients must not fill a disk."""

    def __init__(self) -> None:
        super().__init__()
        self._said_at: dict[str, float] = {}
        self._left_out: Counter[str] = Counter()

    def filter(self, record: logging.LogRecord) -> bool:
        sort = str(record.msg)[:100]
        if record.created - self._said_at.get(sort, -LINE_EVERY_S) < LINE_EVERY_S:
            self._left_out[sort] += 1
            return False
        if len(self._said_at) >= SORTS_MAX:
            self._said_at.clear()
        self._said_at[sort] = record.created
        if left_out := self._left_out.pop(sort, 0):
            record.msg = f"{record.msg} ({left_out} more since the last such line)"
        return True


def _log_sparingly() -> None:
    for name in ("uvicorn.error", "asyncio"):
        logger = logging.getLogger(name)
        if not any(isinstance(one, _Sparingly) for one in logger.filters):
            logger.addFilter(_Sparingly())


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


def listen(address: str, port: int) -> socket.socket:
    """Port 0 takes any free port."""
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


@contextmanager
def listen_at(path: Path) -> Iterator[socket.socket]:
    """A Unix socket that this account alone can open. Its file is there for as long as it is served."""
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        _remove_dead_socket(path)
        before = os.umask(0o177)  # the file must never be open to others, not even for a moment
        try:
            listening.bind(str(path))
        finally:
            os.umask(before)
    except OSError as error:
        listening.close()
        raise Unavailable(
            f"cannot serve at `{path}`: {error.strerror or error}",
            "name a file that is not there yet, in a directory of yours, with a path of less than 108 bytes",
        ) from None
    try:
        yield listening
    finally:
        path.unlink(missing_ok=True)


def _remove_dead_socket(path: Path) -> None:
    """After a crash the file is still there, and nobody listens."""
    if not path.is_socket():
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
        try:
            asking.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
