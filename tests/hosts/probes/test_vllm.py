"""What the vLLM probe makes of the pages of several versions and of several engines."""

from collections.abc import AsyncIterator

import pytest

from hosts.probes.page_server import PageServer
from hosts.probes.pages import vllm_page
from manyhands.core.values.widths import Reading
from manyhands.hosts.probes.vllm import VllmProbe


@pytest.fixture
async def server() -> AsyncIterator[PageServer]:
    server = PageServer()
    await server.start()
    yield server
    await server.stop()


async def read(server: PageServer, page: bytes) -> Reading:
    server.pages["/metrics"] = page
    probe = VllmProbe(f"{server.url}/v1")
    reading = await probe.read(5.0)
    await probe.close()
    assert reading is not None, probe.trouble
    return reading


@pytest.mark.parametrize("kv_name", ["kv_cache_usage_perc", "gpu_cache_usage_perc"])
async def test_cache_use_is_found_under_its_old_and_its_new_name(server: PageServer, kv_name: str) -> None:
    reading = await read(server, vllm_page(kv_name=kv_name))
    assert reading == Reading(at=5.0, source="vllm", running=8, waiting=2, kv_use=0.81, preemptions=7)


async def test_requests_of_several_engines_add_up_and_the_fullest_cache_counts(server: PageServer) -> None:
    one = vllm_page()
    other = vllm_page(running=3.0, waiting=0.0, kv_use=0.97, preemptions=1.0).replace(b'"0"', b'"1"')
    other = b"\n".join(line for line in other.splitlines() if not line.startswith(b"#"))
    reading = await read(server, one + other)
    assert reading == Reading(at=5.0, source="vllm", running=11, waiting=2, kv_use=0.97, preemptions=8)


async def test_a_page_without_preemptions_or_cache_use_leaves_them_unknown(server: PageServer) -> None:
    lines = vllm_page().splitlines()
    page = b"\n".join(line for line in lines if b"preemptions" not in line and b"usage" not in line)
    assert await read(server, page) == Reading(at=5.0, source="vllm", running=8, waiting=2)


async def test_the_key_of_the_host_is_sent_and_the_api_path_is_left_out(server: PageServer) -> None:
    server.pages["/metrics"] = vllm_page()
    probe = VllmProbe(f"{server.url}/v1", api_key="s3cret")
    assert await probe.read(5.0) is not None, probe.trouble
    await probe.close()
    assert server.asked == ["/metrics"]
    assert server.headers["authorization"] == "Bearer s3cret"
