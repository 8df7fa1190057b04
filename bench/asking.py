"""Asks an HTTP server over kept connections, at a tenth of what a full client costs: the server is what is measured."""

import asyncio
import statistics
import time
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlsplit


class Asked(NamedTuple):
    a_second: float
    p50_s: float
    p95_s: float
    client_cpu_s: float  # of this process, for all of them


def a_post(url: str, path: str, body: bytes) -> bytes:
    head = f"POST {path} HTTP/1.1\r\nhost: {urlsplit(url).netloc}\r\ncontent-type: application/json\r\n"
    return f"{head}content-length: {len(body)}\r\n\r\n".encode() + body


def ask(url: str, requests: Sequence[bytes], in_flight: int) -> Asked:
    """Each request once, so many at a time. Any answer but 200 is raised."""
    return asyncio.run(_ask(url, requests, in_flight))


async def _ask(url: str, requests: Sequence[bytes], in_flight: int) -> Asked:
    left = list(reversed(requests))
    took: list[float] = []
    place = urlsplit(url)
    connections = [await asyncio.open_connection(place.hostname, place.port) for _ in range(in_flight)]

    async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while left:
            request = left.pop()
            began = time.perf_counter()
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            body = await reader.readexactly(_content_length(head))
            took.append(time.perf_counter() - began)
            if not head.startswith(b"HTTP/1.1 200"):
                raise RuntimeError((head + body).decode(errors="replace"))

    cpu_before, began = time.process_time(), time.perf_counter()
    await asyncio.gather(*(one(*connection) for connection in connections))
    passed_s, cpu_s = time.perf_counter() - began, time.process_time() - cpu_before
    for _, writer in connections:
        writer.close()
        await writer.wait_closed()
    quantiles = statistics.quantiles(took, n=20)
    return Asked(len(requests) / passed_s, quantiles[9], quantiles[-1], cpu_s)


def _content_length(head: bytes) -> int:
    begin = head.lower().index(b"\r\ncontent-length:") + len(b"\r\ncontent-length:")
    return int(head[begin : head.index(b"\r\n", begin)])
