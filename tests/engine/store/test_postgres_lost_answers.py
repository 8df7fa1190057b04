"""The connection breaks after the server has committed and before the client hears of it: nothing is written twice.

Between the two stands a relay on a Unix socket that can swallow an answer and hang up.
"""

import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from manyhands.core.events import RetryAsked, TasksSubmitted, Woke
from manyhands.core.values.provenance import Origin
from manyhands.core.values.task import Task
from manyhands.engine.store.store_opening import open_journal, open_requests
from postgres_server import PostgresServer

SOCKET = ".s.PGSQL.5432"


class Relay:
    def __init__(self, directory: Path, server: Path) -> None:
        self._server = server
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(directory / SOCKET))
        self._listening.listen()
        self._swallow = b""  # what a message to the server must hold for its answer to be swallowed
        self.swallowed = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def swallow_answer_to(self, text: bytes) -> None:
        self._swallow = text

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(str(self._server / SOCKET))
                hang_up = threading.Event()
                for source, sink, is_client in ((client, server, True), (server, client, False)):
                    threading.Thread(target=self._pass_on, args=(source, sink, is_client, hang_up), daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket, is_client: bool, hang_up: threading.Event) -> None:
        with suppress(OSError):
            while part := source.recv(1 << 20):
                if is_client and self._swallow and self._swallow in part:
                    self._swallow = b""
                    hang_up.set()
                elif not is_client and hang_up.is_set():
                    self.swallowed += 1  # the server has answered: it is done there
                    break
                sink.sendall(part)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._listening.close()


@pytest.fixture
def relay(postgres_server: PostgresServer) -> Iterator[tuple[Relay, str]]:
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="mh-relay-") as directory:
        relay = Relay(Path(directory), postgres_server.directory)
        yield relay, directory
        relay.close()


def test_an_append_whose_answer_was_lost_is_written_once(relay: tuple[Relay, str], postgres_url: str) -> None:
    through, directory = relay
    url = postgres_url.replace(postgres_url.partition("host=")[2].partition("&")[0], directory)
    with closing(open_journal(url)) as journal:
        journal.append([Woke(1.0)])
        for number, marker in enumerate((b"marked-1", b"marked-2"), 1):
            through.swallow_answer_to(marker)
            journal.append([TasksSubmitted(2.0, "r", (Task(id=marker.decode()),), Origin.PLAN)])
            assert through.swallowed == number
        assert journal.append([Woke(3.0)]) == 4
        submitted = [event.tasks[0].id for _, event in journal.read() if isinstance(event, TasksSubmitted)]
        assert submitted == ["marked-1", "marked-2"]


def test_an_append_of_several_statements_whose_answer_was_lost_is_written_once(
    relay: tuple[Relay, str], postgres_url: str
) -> None:
    through, directory = relay
    url = postgres_url.replace(postgres_url.partition("host=")[2].partition("&")[0], directory)
    long = [
        TasksSubmitted(1.0, "r", tuple(Task(id=f"{n}-{i}", prompt="x" * 5000) for i in range(1000)), Origin.PLAN)
        for n in range(5)
    ]
    with closing(open_journal(url)) as journal:
        through.swallow_answer_to(b"COMMIT")
        assert journal.append(long) == 5
        assert through.swallowed == 1
        assert [event for _, event in journal.read()] == long


def test_a_request_whose_answer_was_lost_is_asked_once(relay: tuple[Relay, str], postgres_url: str) -> None:
    through, directory = relay
    url = postgres_url.replace(postgres_url.partition("host=")[2].partition("&")[0], directory)
    with closing(open_journal(postgres_url)) as journal, closing(open_requests(url)) as requests:
        through.swallow_answer_to(b"marked")
        id = requests.ask(RetryAsked(0.0, "r", "marked"))
        assert through.swallowed == 1
        assert journal.requests() == [(id, RetryAsked(0.0, "r", "marked"))]
