"""The llama.cpp probe against a real server under real load, and against servers with pages switched off."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import psutil
import pytest

import llama_server as llama_server_module
from hosts.probes.page_server import PageServer
from hosts.probes.pages import llamacpp_page, slots_page
from llama_server import LlamaServer
from manyhands.core.values.widths import Reading
from manyhands.hosts.probes.llamacpp import LlamacppProbe


async def read_until(probe: LlamacppProbe, running: int, waiting: int) -> None:
    seen: Reading | None = None
    try:
        async with asyncio.timeout(90):
            while seen is None or (seen.running, seen.waiting) != (running, waiting):
                seen = await probe.read(1.0)
    except TimeoutError:
        pytest.fail(f"expected {running} running and {waiting} waiting, last seen {seen} {probe.trouble}")


async def test_a_real_server_shows_its_busy_slots_and_the_requests_beyond_them(
    llama_server: LlamaServer,
) -> None:
    probe = LlamacppProbe(llama_server.url)
    question = {
        "model": llama_server.model,
        "messages": [{"role": "user", "content": "tell me everything"}],
        "max_tokens": 1500,
        "ignore_eos": True,
        # Only of a streamed answer does the server notice that nobody listens any more.
        "stream": True,
    }
    await read_until(probe, running=0, waiting=0)
    async with httpx.AsyncClient(timeout=60) as client:
        ask = [client.post(f"{llama_server.url}/chat/completions", json=question) for _ in range(7)]
        asked = [asyncio.ensure_future(call) for call in ask]
        await read_until(probe, running=llama_server.slots, waiting=7 - llama_server.slots)
        for call in asked:
            call.cancel()
        await asyncio.gather(*asked, return_exceptions=True)
    await read_until(probe, running=0, waiting=0)
    await probe.close()


async def test_without_metrics_the_busy_slots_are_counted() -> None:
    server = PageServer({"/slots": slots_page(busy=3, slots=4)})
    await server.start()
    probe = LlamacppProbe(server.url)
    assert await probe.read(5.0) == Reading(at=5.0, source="llamacpp", running=3, slots=4)
    await probe.close()
    await server.stop()


async def test_cache_use_is_shown_where_the_server_tells_it() -> None:
    server = PageServer({"/metrics": llamacpp_page() + b"llamacpp:kv_cache_usage_ratio 0.25\n"})
    await server.start()
    probe = LlamacppProbe(server.url)
    assert await probe.read(5.0) == Reading(at=5.0, source="llamacpp", running=4, waiting=3, kv_use=0.25)
    await probe.close()
    await server.stop()


async def test_a_server_with_neither_page_is_told_how_to_show_one() -> None:
    server = PageServer()
    await server.start()
    probe = LlamacppProbe(server.url)
    assert await probe.read(5.0) is None
    assert "--metrics" in probe.trouble
    await probe.close()
    await server.stop()


def test_the_test_server_ends_even_when_the_tests_are_killed(llama_server: LlamaServer) -> None:
    tests = Path(llama_server_module.__file__).parent
    program = (
        f"import sys, signal; sys.path.insert(0, {str(tests)!r})\n"
        "import llama_server\n"
        "served = llama_server.serve_until_done(llama_server.cached_model())\n"
        "print(next(served).pid, flush=True)\n"
        "signal.pause()\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as tester:
        assert tester.stdout is not None
        server = psutil.Process(int(tester.stdout.readline()))
        os.kill(tester.pid, signal.SIGKILL)
    server.wait(timeout=10)


async def test_a_server_with_metrics_is_asked_once_how_many_it_works_on_at_once() -> None:
    server = PageServer({"/metrics": llamacpp_page(), "/props": b'{"total_slots": 6, "n_ctx": 4096}'})
    await server.start()
    probe = LlamacppProbe(server.url)
    first = await probe.read(5.0)
    again = await probe.read(6.0)
    assert first is not None
    assert again is not None
    assert (first.slots, again.slots) == (6, 6)
    await probe.close()
    await server.stop()
