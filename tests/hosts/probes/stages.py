"""Hosts whose condition a test can set, each with a probe that looks at it: real servers, files and twins."""

from abc import ABC, abstractmethod
from pathlib import Path

from hosts.probes.nvml_child import NvmlChild
from hosts.probes.page_server import PageServer
from hosts.probes.pages import llamacpp_page, ollama_page, slots_page, vllm_page
from manyhands.core.values.widths import Reading
from manyhands.hosts.probes.llamacpp import LlamacppProbe
from manyhands.hosts.probes.local import LocalProbe
from manyhands.hosts.probes.ollama import OllamaProbe
from manyhands.hosts.probes.probe import Probe
from manyhands.hosts.probes.simulated_probe import SimulatedProbe
from manyhands.hosts.probes.vllm import VllmProbe

GIB = 1 << 30

#: Answers no server of that kind gives when it is well.
GARBAGE_METRICS = {
    "nothing": b"",
    "another server": b"<html><body>welcome to nginx</body></html>",
    "not text": b"\x00\xff\xfe" * 99,
    "not a number": vllm_page(running="NaN") + llamacpp_page(running="NaN"),
    "infinity": vllm_page(waiting="+Inf") + llamacpp_page(waiting="+Inf"),
    "a word for a number": vllm_page(running="many") + llamacpp_page(running="many"),
    "below zero": vllm_page(running=-1.0) + llamacpp_page(running=-1),
    "cut off": vllm_page()[:420] + b'{engine="0',
    "too long": b"# padding\n" * 500_000,
}
GARBAGE_JSON = {
    "nothing": b"",
    "another server": b"<html><body>welcome to nginx</body></html>",
    "not text": b"\x00\xff\xfe" * 99,
    "wrong type": b'{"models": 3}',
    "nested without end": b"[" * 100_000,
    "cut off": ollama_page()[:80],
    "a word for a number": ollama_page(size="big"),
    "below zero": ollama_page(size_vram=-1),
    "more than all": ollama_page(size=10, size_vram=11),
    "too long": b" " * 5_000_000 + ollama_page(),
}


class Stage(ABC):
    source: str
    probe: Probe
    #: The ways it can be unwell: dead, hanging, and each kind of garbage.
    ailments: tuple[str, ...] = ("dead",)

    async def open(self) -> None:
        await self.be("well")

    @abstractmethod
    async def be(self, condition: str) -> None: ...

    async def restart(self) -> None:
        """The host starts again, its counters at 0."""
        await self.be("dead")
        await self.be("well")

    async def close(self) -> None:
        await self.probe.close()


class PagesStage(Stage):
    """An HTTP server that has `well` on `path`."""

    def __init__(self, source: str, path: str, well: bytes, garbage: dict[str, bytes]) -> None:
        self.source = source
        self.ailments = ("dead", "hanging", "endless", "status 500", "status 302", *garbage)
        self._path, self._well, self._garbage = path, well, garbage
        self._server = PageServer()

    async def open(self) -> None:
        await self._server.start()
        made = {"vllm": VllmProbe, "llamacpp": LlamacppProbe, "ollama": OllamaProbe}[self.source]
        self.probe = made(f"{self._server.url}/v1")
        await self.be("well")

    async def be(self, condition: str) -> None:
        server = self._server
        await server.stop()  # also cuts what still hangs from the condition before
        if condition == "dead":
            return
        server.hanging, server.endless = condition == "hanging", condition == "endless"
        server.status = int(condition.removeprefix("status ")) if condition.startswith("status") else 200
        server.pages = {self._path: self._garbage.get(condition, self._well)}
        await server.start()

    async def restart(self) -> None:
        await self.be("well")
        if self.source == "vllm":
            self._server.pages = {self._path: vllm_page(preemptions=2.0)}

    async def close(self) -> None:
        await super().close()
        await self._server.stop()


class LocalStage(Stage):
    source = "local"
    ailments = ("dead", "garbage", "empty", "above one")

    def __init__(self, directory: Path) -> None:
        self._pressure = directory / "pressure"
        self._dead = False
        self.probe = LocalProbe(self._attempts, self._pressure)

    def _attempts(self) -> dict[int, int]:
        if self._dead:
            raise OSError("the list of attempts is gone")
        return {1: 1}

    async def be(self, condition: str) -> None:
        self._dead = condition == "dead"
        pressures = {"garbage": "\x00 what\n", "empty": "", "above one": "some avg10=250.00\n"}
        usual = "some avg10=1.50 avg60=0.95 avg300=0.30 total=4651695\nfull avg10=0.00\n"
        self._pressure.write_text(pressures.get(condition, usual))


class NvmlStage(Stage):
    source = "nvml"
    ailments = ("dead", "hanging", "garbage")

    def __init__(self, directory: Path, driver: Path) -> None:
        self._state = directory / "state"
        self.child = NvmlChild(driver, self._state, visible="0,1")
        self.probe = self.child

    async def open(self) -> None:
        await super().open()
        await self.child.cuda_libraries()  # the process is up before anything is timed

    async def be(self, condition: str) -> None:
        self._state.write_text(condition)


class SimulatedStage(Stage):
    ailments = ("dead", "raising", "impossible")

    def __init__(self, source: str) -> None:
        self.source = source
        self.probe = SimulatedProbe(source, self._truth)
        self._condition = "well"
        self._preemptions = 7

    def _truth(self, at: float) -> Reading | None:
        if self._condition == "dead":
            return None
        if self._condition == "raising":
            raise ValueError("a host that cannot be worked out")
        impossible = self._condition == "impossible"
        return Reading(
            at=at,
            running=8,
            waiting=-2 if impossible else 2,
            kv_use=0.81,
            preemptions=self._preemptions,
            memory_total_bytes=24 * GIB,
            memory_used_bytes=-1 if impossible else 20 * GIB,
            attempt_bytes={1: GIB},
            utilisation=0.4,
            cores=4,
            pressure=0.01,
        )

    async def be(self, condition: str) -> None:
        self._condition = condition

    async def restart(self) -> None:
        self._preemptions = 2


STAGES = ("vllm", "llamacpp", "llamacpp slots", "ollama", "local", "nvml")
SIMULATED = ("vllm", "llamacpp", "ollama", "local", "nvml")


def stage_called(name: str, directory: Path, driver: Path | None) -> Stage:
    match name.split():
        case ["simulated", source]:
            return SimulatedStage(source)
        case ["vllm"]:
            return PagesStage("vllm", "/metrics", vllm_page(), GARBAGE_METRICS)
        case ["llamacpp"]:
            return PagesStage("llamacpp", "/metrics", llamacpp_page(), GARBAGE_METRICS)
        case ["llamacpp", "slots"]:
            garbage = {"wrong type": b'{"slots": 4}', "empty slot": b"[{}]", "a word": b'[{"is_processing": "x"}]'}
            return PagesStage("llamacpp", "/slots", slots_page(3, 4), garbage)
        case ["ollama"]:
            return PagesStage("ollama", "/api/ps", ollama_page(), GARBAGE_JSON)
        case ["local"]:
            return LocalStage(directory)
        case _:
            assert driver is not None
            return NvmlStage(directory, driver)


def ailments_of(name: str) -> tuple[str, ...]:
    if name in ("local", "nvml"):
        return {"local": LocalStage, "nvml": NvmlStage}[name].ailments
    return stage_called(name, Path(), None).ailments
