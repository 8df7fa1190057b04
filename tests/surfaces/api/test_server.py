"""The HTTP server of a dispatcher: real requests over loopback, in the dispatcher's own loop."""

import signal

import httpx
import pytest

from manyhands.engine.dispatcher import Dispatcher
from manyhands.errors import Unavailable, UsageError
from manyhands.surfaces.api.security import is_loopback_name
from surfaces.api.live import nap, offered, open_run


async def test_metrics_and_health_are_served_while_tasks_run(live: Dispatcher) -> None:
    async with offered(live) as url, httpx.AsyncClient(base_url=url) as client:
        await open_run(live, [nap("a", 60), *(nap(f"n{n}") for n in range(20))])
        page = await client.get("/metrics")
        assert page.status_code == 200
        assert page.headers["content-type"].startswith("text/plain; version=")
        assert 'manyhands_tasks{kind="quick",run="r",state="running"}' in page.text
        health = await client.get("/healthz")
        assert (health.status_code, health.json()["status"], health.json()["hosts"]) == (200, "ok", 2)
        assert (await client.get("/elsewhere")).status_code == 404


async def test_a_stopped_dispatcher_is_not_healthy(live: Dispatcher) -> None:
    async with offered(live) as url, httpx.AsyncClient(base_url=url) as client:
        await live.close()
        health = await client.get("/healthz")
        assert (health.status_code, health.json()["status"]) == (503, "stopped")
        live.start({})  # for the fixture to close


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8642", "127.0.0.1.evil.example", "", "localhost:x"])
async def test_a_name_that_is_not_this_machine_is_refused(live: Dispatcher, host: str) -> None:
    async with offered(live) as url, httpx.AsyncClient(base_url=url) as client:
        answer = await client.get("/metrics", headers={"host": host})
        assert (answer.status_code, "manyhands_tasks" in answer.text) == (403, False)


def test_the_names_of_this_machine_are_taken_with_and_without_a_port() -> None:
    names = ("127.0.0.1", "127.0.0.1:8642", "localhost", "LocalHost:1", "[::1]", "[::1]:8642")
    assert [is_loopback_name(name) for name in names] == [True] * 6
    assert [is_loopback_name(name) for name in ("::1", "[::1]:", "0.0.0.0", "localhost:80:80")] == [False] * 4


async def test_a_name_is_not_an_address_to_serve_on(live: Dispatcher) -> None:
    with pytest.raises(UsageError, match="it is not an IP address"):
        async with offered(live, address="localhost"):
            pass


async def test_a_port_in_use_is_named_and_free_again_after_the_end(live: Dispatcher) -> None:
    async with offered(live) as url:
        port = int(url.rpartition(":")[2])
        with pytest.raises(Unavailable, match=f"port {port}"):
            async with offered(live, port):
                pass
    async with offered(live, port) as again:
        assert again == url


async def test_signals_stay_the_dispatchers(live: Dispatcher) -> None:
    before = [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)]
    async with offered(live):
        assert [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)] == before
