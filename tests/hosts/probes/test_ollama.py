"""What follows from Ollama's list of loaded models."""

from hosts.probes.page_server import PageServer
from hosts.probes.pages import ollama_page
from manyhands.core.values.widths import Reading
from manyhands.hosts.probes.ollama import OllamaProbe


async def test_a_loaded_model_shows_what_it_takes_on_the_device_and_whether_it_spilled() -> None:
    server = PageServer({"/api/ps": ollama_page(size=1000, size_vram=600)})
    await server.start()
    probe = OllamaProbe(f"{server.url}/v1")
    assert await probe.read(5.0) == Reading(at=5.0, source="ollama", memory_used_bytes=600)
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
