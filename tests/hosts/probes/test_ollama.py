"""What follows from Ollama's list of loaded models."""

from hosts.probes.page_server import PageServer
from hosts.probes.pages import ollama_page
from manyhands.core.clutch.resources import DeviceGauge
from manyhands.core.values.widths import Reading
from manyhands.hosts.probes.ollama import OllamaProbe


async def test_a_loaded_model_shows_what_it_takes_on_the_device_and_whether_it_spilled() -> None:
    server = PageServer({"/api/ps": ollama_page(size=1000, size_vram=600)})
    await server.start()
    probe = OllamaProbe(f"{server.url}/v1")
    full = Reading(at=5.0, source="ollama", memory_total_bytes=600, memory_used_bytes=600, spilled=0.4)
    assert await probe.read(5.0) == full
    (model,) = probe.loaded
    assert (model.name, model.spilled, model.context_length) == ("granite-code:8b", True, 4096)

    server.pages["/api/ps"] = ollama_page(size=1000, size_vram=1000)
    await probe.read(6.0)
    assert not probe.loaded[0].spilled

    server.pages["/api/ps"] = b'{"models": []}'
    assert await probe.read(7.0) == Reading(at=7.0, source="ollama", memory_used_bytes=0)
    assert probe.loaded == ()
    await probe.close()
    await server.stop()


async def test_with_the_memory_of_the_device_a_width_shrinks_when_that_is_full() -> None:
    """From the server's page to the clutch: the model and its contexts grow with the load until the device is full."""
    server = PageServer({"/api/ps": ollama_page(size=5_000_000_000, size_vram=5_000_000_000)})
    await server.start()
    probe = OllamaProbe(f"{server.url}/v1", memory_bytes=8_000_000_000)
    gauge = DeviceGauge()
    for at, used in enumerate((5_000_000_000, 7_000_000_000, 7_900_000_000)):
        server.pages["/api/ps"] = ollama_page(size=used, size_vram=used)
        reading = await probe.read(float(at))
        assert reading is not None
        gauge.read(reading, in_flight=4)
    assert gauge.cap == 3
    assert gauge.reason == "memory 99% over 95%: 4 → 3"
    await probe.close()
    await server.stop()


async def test_a_model_that_spills_shows_a_full_device_and_one_in_main_memory_shows_none() -> None:
    server = PageServer({"/api/ps": ollama_page(size=9_000, size_vram=6_000)})
    await server.start()
    probe = OllamaProbe(f"{server.url}/v1", memory_bytes=8_000)
    spilled = await probe.read(1.0)
    assert spilled is not None
    assert spilled.memory_total_bytes == spilled.memory_used_bytes == 6_000
    server.pages["/api/ps"] = ollama_page(size=9_000, size_vram=0)
    assert await probe.read(2.0) == Reading(at=2.0, source="ollama", memory_total_bytes=8_000, memory_used_bytes=0)
    await probe.close()
    await server.stop()
