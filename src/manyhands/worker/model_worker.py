"""Builds a worker from its settings (models, planner, devices, engine) and closes it cleanly."""

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec import Struct

from manyhands.errors import UsageError
from manyhands.readers.cgroup import cores_allowed
from manyhands.worker.backends.backend import Backend
from manyhands.worker.backends.backend_choice import backends_of
from manyhands.worker.devices.device_choice import open_devices
from manyhands.worker.loop.computing import keep_freed_memory
from manyhands.worker.loop.hosting import Hosting
from manyhands.worker.loop.image_sources import ImageSources
from manyhands.worker.loop.prep_processes import PrepProcesses
from manyhands.worker.loop.text_requests import Preparer, TextRequests, Threads
from manyhands.worker.loop.worker_loop import WorkerLoop
from manyhands.worker.memory.learned_store import LearnedStore
from manyhands.worker.memory.memory_budget import MemoryBudget
from manyhands.worker.planning.planner import Planner
from manyhands.worker.values.model_config import ModelConfig

#: Small batches stay in a processor's caches: a token costs a tenth less in batches of 500 tokens than of 4,000.
CPU_BATCH_SECONDS_MAX = 0.15
DEVICE_BATCH_SECONDS_MAX = 2.0
SAVE_EVERY_S = 60.0


class WorkerSettings(Struct, frozen=True, kw_only=True):
    models: tuple[ModelConfig, ...]
    workspace: Path
    threads: int = 0  # batches computed at once; 0: as many as there are cores, at most 4
    device: str = "auto"  # auto, cpu or cuda
    learned_file: Path | None = None  # where the worker stores what it learned about memory
    apps: dict[str, float] = {}  # app → its share
    batch_seconds_max: float | None = None  # a longer batch holds a single item; None: the device's default
    prep_processes: int = 0  # how many processes tokenise and decode images; 0: a thread does


@asynccontextmanager
async def working(settings: WorkerSettings) -> AsyncIterator[TextRequests]:
    """Run a worker for the time of the `async with` block."""
    if not settings.models:
        raise UsageError(
            "there is no model to host", "run `manyhands worker PATH`, or add a [models.NAME] table to the config"
        )
    keep_freed_memory()
    threads = settings.threads or min(4, cores_allowed())
    devices = await open_devices(settings.device, os.environ.get("CUDA_VISIBLE_DEVICES"))
    store = LearnedStore(settings.learned_file) if settings.learned_file else None
    device = "cpu" if list(await devices.read()) == ["cpu"] else "cuda"
    hosted = [(each, model) for model in settings.models for each in backends_of(model, settings.workspace)]
    backends: dict[str, Backend] = {each.description.name: each for each, _ in hosted}
    hosting = Hosting(backends, threads)
    planner = Planner(
        store.load() if store else None,
        in_flight_max=hosting.in_flight_max,
        budget=MemoryBudget(computing_max=threads),
        abreast_max=threads if device == "cpu" else 1,  # cores compute in parallel; a device computes one by one
    )
    engine = WorkerLoop(hosting, planner, devices)
    preparer: Preparer = PrepProcesses(settings.prep_processes) if settings.prep_processes else Threads()
    longest_s = settings.batch_seconds_max or (CPU_BATCH_SECONDS_MAX if device == "cpu" else DEVICE_BATCH_SECONDS_MAX)
    engine.start(
        [
            backend.description.spec(
                in_flight_max=threads,
                batch_seconds_max=longest_s,
                pinned=model.pinned,
                priority=model.priority,
                weight=model.weight,
            )
            for backend, model in hosted
        ]
    )
    sources = {
        model.name: ImageSources(settings.workspace, model.images_from)
        for backend, model in hosted
        if backend.description.modality == "image"
    }
    saving = asyncio.create_task(_save_now_and_then(planner, store)) if store else None
    try:
        cuts = {model.name: model.truncate for model in settings.models}
        yield TextRequests(engine, preparer, cuts, sources)
    finally:
        if saving is not None:
            saving.cancel()
        await engine.close()
        await preparer.close()
        for each in sources.values():
            await each.close()
        if store is not None:
            store.save(planner.learned())


async def _save_now_and_then(planner: Planner, store: LearnedStore) -> None:
    while True:
        await asyncio.sleep(SAVE_EVERY_S)
        store.save(planner.learned())


def named(places: Sequence[str]) -> tuple[ModelConfig, ...]:
    """The models named on the command line. Each name is a path if that path exists, and a package otherwise."""
    models = []
    for place in places:
        name, equals, rest = place.partition("=")
        where = rest if equals else place
        path = Path(where).expanduser()
        if not equals:
            name = (path.stem if path.suffix == ".gguf" else path.name) or path.absolute().name
        if path.exists():
            models.append(ModelConfig(name=name, path=str(path.absolute())))
        elif where.replace("_", "").replace(".", "").isalnum():
            models.append(ModelConfig(name=name, package=where))
        else:
            raise UsageError(f"there is no model at `{where}`", "name a folder, a .gguf file or an installed package")
    return tuple(models)
