"""A real dispatcher on functions and commands, and what its metrics say."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from manyhands.assembly import open_session
from manyhands.core.values.task import NO_CLAIMS, Task
from manyhands.engine.dispatcher import Dispatcher
from manyhands.engine.run_opening import opening
from manyhands.sources.config.config_reading import load_config
from manyhands.surfaces.api.api_server import offering

CONFIG = """
[hosts.functions]
type = "python"
kinds = ["quick", "slow"]
width = 2
lanes = { slow = 1 }
[hosts.commands]
type = "shell"
kinds = ["shell"]
width = 3
[store]
durability = "crash"
"""


def nap(id: str, delay_s: float = 0.0, kind: str = "quick", **fields: object) -> Task:
    return Task(id, kind=kind, call="asyncio:sleep", args={"delay": delay_s}, **fields)  # type: ignore[arg-type]


def shell(id: str, script: str, **fields: object) -> Task:
    return Task(id, kind="shell", run=("sh", "-c", script), claims=NO_CLAIMS, **fields)  # type: ignore[arg-type]


async def open_run(dispatcher: Dispatcher, tasks: Iterable[Task], name: str = "r") -> None:
    await dispatcher.submit(*opening(name, dispatcher.clock.now(), list(tasks), "here", None, False, {}))


Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def samples(page: bytes) -> Samples:
    """Name and labels → value."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(page.decode())
        for sample in family.samples
    }


def value(found: Samples, name: str, **labels: str) -> float:
    return found[name, frozenset(labels.items())]


@pytest.fixture
async def live(tmp_path: Path) -> AsyncIterator[Dispatcher]:
    (tmp_path / "manyhands.toml").write_text(CONFIG)
    async with open_session(load_config(tmp_path, environ={})) as dispatcher:
        yield dispatcher


def store_of(dispatcher: Dispatcher) -> Path:
    return Path(dispatcher._directory)


@asynccontextmanager
async def offered(dispatcher: Dispatcher, port: int = 0, **options: Any) -> AsyncIterator[str]:
    """The address of the dispatcher's page and API; its token is in the store."""
    async with offering(dispatcher, store_of(dispatcher), port, **options) as offer:
        yield offer.url
