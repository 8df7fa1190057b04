"""The models of a worker: which are loaded, on which threads they compute, and how one is evicted."""

import contextlib
from concurrent.futures import ThreadPoolExecutor

from manyhands.worker.backends.backend import Backend, Loaded
from manyhands.worker.loop.computing import give_back_memory


class Hosting:
    def __init__(self, backends: dict[str, Backend], threads: int) -> None:
        self.backends = backends
        self.threads = threads
        self._loaded: dict[str, Loaded] = {}
        self._encoders = ThreadPoolExecutor(threads, "compute")
        #: Generating an answer takes seconds or minutes, and the model batches by itself. So generators have their
        #: own threads and do not block encoders.
        self._generators: dict[str, ThreadPoolExecutor] = {}
        for name, backend in backends.items():
            if backend.description.task == "generate":
                self._generators[name] = ThreadPoolExecutor(backend.description.slots, f"generate-{name}")
        self._loading = ThreadPoolExecutor(1, "load")

    @property
    def in_flight_max(self) -> int:
        return self.threads + sum(self.backends[name].description.slots for name in self._generators)

    def loaded(self, name: str) -> Loaded:
        return self._loaded[name]

    def pool_of(self, name: str) -> ThreadPoolExecutor:
        return self._generators.get(name, self._encoders)

    @property
    def loading_pool(self) -> ThreadPoolExecutor:
        return self._loading

    def load(self, name: str, device: str) -> None:
        self._loaded[name] = self.backends[name].load(device)

    def give_back(self) -> None:
        """Hand back memory that is kept for the next batch."""
        for loaded in list(self._loaded.values()):
            with contextlib.suppress(Exception):  # handing back may itself need a little memory
                loaded.give_back()
        give_back_memory()

    def evict(self, name: str) -> None:
        """Drop the references first, then collect garbage, then hand back the pages."""
        loaded = self._loaded.pop(name, None)
        if loaded is not None:
            loaded.close()
        del loaded
        give_back_memory()

    def close(self) -> None:
        # Do not wait for threads that still compute: the caller has already waited as long as it wants to.
        for pool in (self._encoders, self._loading, *self._generators.values()):
            pool.shutdown(wait=False, cancel_futures=True)
        self._loaded.clear()
