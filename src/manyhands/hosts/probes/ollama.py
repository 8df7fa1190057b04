"""What an Ollama server reports on `/api/ps`: the loaded models and where they are.

It reports no running or waiting requests. The clutch has to learn about those from endings. It does not report how
much memory its device has either: the configuration says so. A model that is partly in main memory shows that the
device is full.
"""

import msgspec

from manyhands.core.values.widths import Reading
from manyhands.hosts.probes.guarded_probe import GuardedProbe
from manyhands.hosts.probes.http import ServerPages
from manyhands.readers.no_answer import NoAnswer


class OllamaModel(msgspec.Struct, frozen=True):
    name: str
    size: int  # bytes, its context included
    size_vram: int = 0  # bytes of it on the device
    context_length: int | None = None

    @property
    def spilled(self) -> bool:
        """Whether part of it is in main memory, so that every token waits for the processor.

        A model that is there as a whole does not need the device.
        """
        return 0 < self.size_vram < self.size


class OllamaModels(msgspec.Struct):
    models: list[OllamaModel]


class OllamaProbe(GuardedProbe):
    def __init__(self, url: str, api_key: str = "", memory_bytes: int | None = None) -> None:
        """`memory_bytes` is the memory of the server's device, if it is known."""
        super().__init__()
        self._memory_bytes = memory_bytes
        self._pages = ServerPages(url, api_key)
        self.loaded: tuple[OllamaModel, ...] = ()  # as of the last reading; empty without one

    async def ask(self, at: float) -> Reading:
        self.loaded = ()
        page = await self._pages.get("/api/ps")
        try:
            models = msgspec.json.decode(page, type=OllamaModels).models
        except (ValueError, RecursionError) as error:
            raise NoAnswer(f"{self._pages.root}/api/ps is not a list of models: {error}") from None
        for model in models:
            if not 0 <= model.size_vram <= model.size:
                raise NoAnswer(f"impossible answer: {model.size_vram} of {model.size} bytes on the device")
        self.loaded = tuple(models)
        used = sum(model.size_vram for model in models)
        split = [model for model in models if model.spilled]
        if split:
            spilled = 1 - sum(model.size_vram for model in split) / sum(model.size for model in split)
            return Reading(
                at=at, source="ollama", memory_total_bytes=used, memory_used_bytes=used, spilled=round(spilled, 3)
            )
        total = None if self._memory_bytes is None else max(self._memory_bytes, used)
        return Reading(at=at, source="ollama", memory_total_bytes=total, memory_used_bytes=used)

    async def close(self) -> None:
        await self._pages.close()
