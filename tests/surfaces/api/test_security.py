"""Who is refused: other names, other origins, no token. Held by real requests to a real server."""

import os
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from manyhands.core.values.task import Task, TaskState
from manyhands.engine.dispatcher import Dispatcher
from manyhands.errors import StoreBroken
from manyhands.surfaces.api import security
from manyhands.surfaces.api.security import is_own_name
from manyhands.surfaces.api.token import read_token, token_of
from surfaces.api.live import nap, offered, open_run, store_of

CANCEL = "/api/v1/tasks/r/a/cancel"


@pytest.fixture
async def client(live: Dispatcher) -> AsyncIterator[httpx.AsyncClient]:
    await open_run(live, [nap("a", 600)])
    async with offered(live) as url, httpx.AsyncClient(base_url=url, timeout=60) as client:
        yield client


def bearer(live: Dispatcher) -> dict[str, str]:
    return {"authorization": f"Bearer {token_of(store_of(live))}"}


async def test_the_token_is_for_its_owner_alone_and_stays_the_same(live: Dispatcher, tmp_path: Path) -> None:
    token = token_of(tmp_path)
    assert stat.S_IMODE((tmp_path / "token").stat().st_mode) == 0o600
    assert token_of(tmp_path) == read_token(tmp_path) == token
    os.chmod(tmp_path / "token", 0o644)
    with pytest.raises(StoreBroken, match=r"others can read the token in .* \(mode 644\)"):
        token_of(tmp_path)


async def test_on_loopback_reading_is_free_and_commands_want_the_token(
    live: Dispatcher, client: httpx.AsyncClient
) -> None:
    assert (await client.get("/api/v1/runs")).status_code == 200
    for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": "Basic eDp5"}, {"cookie": "manyhands=x"}):
        refused = await client.post(CANCEL, headers=headers)
        assert (refused.status_code, refused.json()["error"]) == (401, "this wants the token")
    assert live.book.runs["r"].counts[TaskState.RUNNING] == 1
    assert (await client.post(CANCEL, headers=bearer(live))).status_code == 200


async def test_beyond_loopback_everything_wants_the_token(live: Dispatcher) -> None:
    async with offered(live, address="0.0.0.0") as url, httpx.AsyncClient(base_url=url, timeout=60) as client:
        for path in ("/", "/static/style.css", "/api/v1/runs", "/api/v1/stream", "/metrics", "/healthz", "/nowhere"):
            refused = await client.get(path)
            assert refused.status_code == 401, path
            assert refused.headers["www-authenticate"] == "Bearer"
            assert refused.json()["hint"]
        assert (await client.get("/api/v1/runs", headers=bearer(live))).status_code == 200
        assert (await client.get("/metrics", headers=bearer(live))).status_code == 200


async def test_opening_the_page_with_the_token_once_lets_the_browser_command(
    live: Dispatcher, client: httpx.AsyncClient
) -> None:
    token = token_of(store_of(live))
    assert (await client.get("/?token=wrong")).status_code == 401
    entered = await client.get(f"/?token={token}")
    assert (entered.status_code, entered.headers["location"]) == (303, "/")
    cookie = entered.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= {part.strip() for part in cookie.split(";")}
    assert (await client.post(CANCEL)).status_code == 200  # the client keeps cookies, as a browser does


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:1"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"},
        {"host": "evil.example"},
        {"host": "127.0.0.1.evil.example:80"},
    ],
)
async def test_a_page_from_elsewhere_is_refused_even_with_the_token(
    live: Dispatcher, client: httpx.AsyncClient, headers: dict[str, str]
) -> None:
    for method, path in (("GET", "/api/v1/runs"), ("POST", CANCEL), ("GET", "/api/v1/stream"), ("GET", "/metrics")):
        refused = await client.request(method, path, headers={**headers, **bearer(live)})
        assert refused.status_code == 403, (method, path)
        assert "access-control-allow-origin" not in refused.headers
    assert live.book.runs["r"].counts[TaskState.RUNNING] == 1


async def test_the_page_itself_may_ask_and_a_link_from_elsewhere_may_open_it(
    live: Dispatcher, client: httpx.AsyncClient
) -> None:
    own = {"origin": str(client.base_url).rstrip("/"), "sec-fetch-site": "same-origin", **bearer(live)}
    visit = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert (await client.get("/", headers=visit)).status_code == 200
    assert (await client.post(CANCEL, headers=own)).status_code == 200


async def test_every_answer_has_a_strict_policy(client: httpx.AsyncClient) -> None:
    for path in ("/", "/static/style.css", "/api/v1/runs", "/nowhere", "/metrics"):
        headers = (await client.get(path)).headers
        assert "default-src 'self'" in headers["content-security-policy"], path
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


async def test_static_files_have_their_types_and_are_asked_for_anew(client: httpx.AsyncClient) -> None:
    for path, kind in (
        ("/", "text/html"),
        ("/static/style.css", "text/css"),
        ("/static/page.js", "text/javascript"),
    ):
        answer = await client.get(path)
        assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-cache")
        assert answer.headers["content-type"].startswith(kind)
        assert answer.headers["content-encoding"] == "gzip"
        plain = await client.get(path, headers={"accept-encoding": "identity"})
        assert plain.text == answer.text
        assert "content-encoding" not in plain.headers
    again = await client.get("/static/page.js", headers={"if-none-match": answer.headers["etag"]})
    assert again.status_code == 304
    for path in ("/static/../errors.py", "/static/%2e%2e/errors.py", "/static/..%2ferrors.py", "/static/js"):
        assert (await client.get(path)).status_code == 404


async def test_what_is_too_long_is_refused(live: Dispatcher, client: httpx.AsyncClient) -> None:
    assert (await client.get("/api/v1/tasks", params={"q": "x" * 20_000})).status_code == 414
    headers = {**bearer(live), "content-type": "application/json"}
    large = b" " * (security.BODY_BYTES_MAX + 1)
    assert (await client.post("/api/v1/tasks", content=large, headers=headers)).status_code == 413

    async def pieces() -> AsyncIterator[bytes]:  # without saying how long it is
        for _ in range(10):
            yield b" " * (1 << 20)

    assert (await client.post("/api/v1/tasks", content=pieces(), headers=headers)).status_code == 413


async def test_secrets_do_not_come_back(live: Dispatcher) -> None:
    secret = "correct-horse-battery"
    task = Task("s", kind="quick", title=f"uses {secret}", prompt=f"with {secret}", call="asyncio:sleep",
                args={"delay": 0, "note": secret}, env={"SHOP_TOKEN": secret})  # fmt: skip
    async with offered(live) as url, httpx.AsyncClient(base_url=url, timeout=60) as client:
        await open_run(live, [task])
        await live.wait_settled("r")
        paths = ["/api/v1/tasks", "/api/v1/tasks/r/s", "/api/v1/tasks/r/s/story", "/api/v1/runs/r/recording"]
        for path in paths:
            answer = await client.get(path)
            assert answer.status_code == 200
            assert secret not in answer.text, path
        assert (await client.get(paths[1])).json()["plan"]["env"] == {"SHOP_TOKEN": "[redacted]"}
        async with client.stream("GET", "/api/v1/stream") as stream:
            async for line in stream.aiter_lines():
                assert secret not in line
                if line.startswith("data:"):
                    break


def test_beyond_loopback_an_address_is_a_name_of_ours_and_another_name_is_not() -> None:
    good = ("192.0.2.7:8642", "[2001:db8::1]:80", "[2001:db8::1]", "127.0.0.1", "localhost:1")
    assert [is_own_name(name) for name in good] == [True] * 5
    assert [is_own_name(name) for name in ("evil.example", "192.0.2.7.evil.example:80", "", "a:b:c")] == [False] * 4
