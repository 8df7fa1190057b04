"""The page and the API at a Unix socket: no port, and nobody but the account."""

import socket
import stat
from pathlib import Path

import httpx
import pytest

from manyhands.engine.dispatcher import Dispatcher
from manyhands.errors import Unavailable
from manyhands.surfaces.api.token import token_of
from surfaces.api.live import nap, offered, open_run, store_of


def client_of(file: Path) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.AsyncHTTPTransport(uds=str(file)), base_url="http://localhost", timeout=60)


async def test_it_serves_readers_and_wants_the_token_for_commands(live: Dispatcher, tmp_path: Path) -> None:
    file = tmp_path / "http.sock"
    await open_run(live, [nap("a", 600)])
    async with offered(live, socket_file=file) as url, client_of(file) as client:
        assert url == f"unix:{file}"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert [run["run"] for run in (await client.get("/api/v1/runs")).json()["runs"]] == ["r"]
        assert (await client.post("/api/v1/tasks/r/a/cancel")).status_code == 401
        bearer = {"authorization": f"Bearer {token_of(store_of(live))}"}
        assert (await client.post("/api/v1/tasks/r/a/cancel", headers=bearer)).status_code == 200
    assert "the Unix socket" in (store_of(live) / "audit.jsonl").read_text()
    assert not file.exists()


async def test_a_socket_in_use_is_refused_and_a_dead_one_is_taken(live: Dispatcher, tmp_path: Path) -> None:
    file = tmp_path / "http.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other:
        other.bind(str(file))
        other.listen()
        with pytest.raises(Unavailable, match=r"cannot serve at .*http\.sock`: Address already in use"):
            async with offered(live, socket_file=file):
                raise AssertionError
    assert file.is_socket()  # it was left there, as after a crash
    async with offered(live, socket_file=file), client_of(file) as client:
        assert (await client.get("/healthz")).status_code == 200


@pytest.mark.parametrize(("name", "why"), [("notes.txt", "Address already in use"), ("x" * 200, "path too long")])
async def test_what_cannot_be_a_socket_is_refused(live: Dispatcher, tmp_path: Path, name: str, why: str) -> None:
    (tmp_path / "notes.txt").write_text("kept")
    with pytest.raises(Unavailable, match=why):
        async with offered(live, socket_file=tmp_path / name):
            raise AssertionError
    assert (tmp_path / "notes.txt").read_text() == "kept"
