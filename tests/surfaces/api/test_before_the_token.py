"""What anyone can do who reaches the port, before a token is asked for: it is bounded, and starts are not held up."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest

from manyhands import http_serving
from manyhands.engine.dispatcher import Dispatcher
from surfaces.api.live import nap, offered, open_run

PATIENCE_S = 90.0


@asynccontextmanager
async def half_open(url: str, count: int) -> AsyncIterator[list[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]:
    """Connections on which a request has begun and does not end."""
    host, _, port = url.removeprefix("http://").rpartition(":")
    opened = []
    try:
        for _ in range(count):
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
            opened.append((reader, writer))
        yield opened
    finally:
        for _, writer in opened:
            writer.transport.abort()


async def until_closed(reader: asyncio.StreamReader) -> bytes:
    try:
        async with asyncio.timeout(PATIENCE_S):
            return await reader.read()
    except ConnectionResetError:
        return b""


async def test_a_request_that_never_ends_is_closed_after_its_deadline(
    live: Dispatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_serving, "HEAD_WITHIN_S", 0.2)
    async with offered(live) as url, half_open(url, 3) as connections:
        for reader, _ in connections:
            assert await until_closed(reader) == b""


async def test_a_second_request_on_a_connection_has_a_deadline_too(
    live: Dispatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_serving, "HEAD_WITHIN_S", 2.0)
    async with offered(live) as url:
        host, _, port = url.removeprefix("http://").rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"GET /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert (await reader.readuntil(b"\r\n")).startswith(b"HTTP/1.1 200")
        writer.write(b"GET / HTTP/1.1\r\nX-Slow: ")
        await until_closed(reader)
        writer.transport.abort()


async def test_a_stream_outlives_the_deadline_of_its_request(live: Dispatcher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_serving, "HEAD_WITHIN_S", 2.0)
    async with (
        offered(live) as url,
        httpx.AsyncClient(base_url=url, timeout=60) as client,
        client.stream("GET", "/api/v1/stream") as answer,
    ):
        assert answer.status_code == 200
        await asyncio.sleep(2.5)  # longer than the deadline, so that it would have struck
        await open_run(live, [nap("a")])
        async with asyncio.timeout(PATIENCE_S):
            async for line in answer.aiter_lines():
                if '"a"' in line:
                    break


async def test_a_head_that_is_too_large_is_refused_before_it_is_whole(live: Dispatcher) -> None:
    async with offered(live) as url, half_open(url, 1) as [(reader, writer)]:
        sent = 0
        try:
            while sent < 100 << 20:
                writer.write(b"x" * 65_536)
                await writer.drain()
                sent += 65_536
        except ConnectionError:
            pass
        assert sent < 16 << 20, "most of it was never taken"
        assert (await until_closed(reader))[:12] in (b"", b"HTTP/1.1 400")


async def test_connections_are_counted_and_leave_descriptors_for_attempts(
    live: Dispatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_serving, "CONNECTIONS_MAX", 20)
    monkeypatch.setattr(http_serving, "HEAD_WITHIN_S", 3600.0)  # only the count can close them
    async with offered(live) as url:
        async with half_open(url, 60) as connections:
            closed = [asyncio.create_task(until_closed(reader)) for reader, _ in connections]
            async with asyncio.timeout(PATIENCE_S):
                while sum(task.done() for task in closed) < 40:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
            await open_run(live, [nap(f"n{n}") for n in range(10)])
            await live.wait_settled("r")
            for task in closed:
                task.cancel()
        async with asyncio.timeout(PATIENCE_S), httpx.AsyncClient(base_url=url, timeout=60) as client:
            while True:  # the server has to notice that they are gone
                try:
                    assert (await client.get("/api/v1/runs")).status_code == 200
                    break
                except httpx.TransportError:
                    await asyncio.sleep(0.01)


async def test_a_flood_of_bad_requests_is_a_few_lines_in_the_log(
    live: Dispatcher, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        async with offered(live) as url:
            host, _, port = url.removeprefix("http://").rpartition(":")
            for _ in range(200):
                with socket.create_connection((host, int(port))) as odd:
                    odd.sendall(b"\x00\x01 nothing\r\n\r\n")
                    await asyncio.sleep(0)
            async with httpx.AsyncClient(base_url=url, timeout=60) as client:
                assert (await client.get("/api/v1/runs")).status_code == 200
    assert sum("Invalid HTTP request" in line for line in caplog.messages) <= 3


@pytest.mark.parametrize("query", ["token=x" + "&a=1" * 40, "&" * 100, "token=x&token=y" + "&=" * 60])
async def test_a_query_with_too_many_fields_is_a_bad_request(live: Dispatcher, query: str) -> None:
    async with offered(live) as url, httpx.AsyncClient(base_url=url, timeout=60) as client:
        answer = await client.get(f"/?{query}")
        assert (answer.status_code, "fields" in answer.json()["error"]) == (400, True)


@pytest.mark.parametrize("address", ["127.0.0.2", "127.8.8.8"])
async def test_any_loopback_address_answers_to_its_own_name(live: Dispatcher, address: str) -> None:
    async with offered(live, address=address) as url, httpx.AsyncClient(base_url=url, timeout=60) as client:
        assert address in url
        assert (await client.get("/api/v1/runs")).status_code == 200
        assert (await client.get("/api/v1/runs", headers={"host": "evil.example"})).status_code == 403
        assert (await client.get("/api/v1/runs", headers={"host": "192.168.1.1"})).status_code == 403
