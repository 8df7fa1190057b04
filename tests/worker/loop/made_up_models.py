"""Models that need no library and misbehave on demand, behind the same interface as the real ones.

A row's answer is the sum of its tokens, so that tests can tell which answer belongs to which row.
"""

import threading
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from manyhands.worker.backends.backend import Description, Tokens
from manyhands.worker.devices.device import Devices
from manyhands.worker.devices.simulated_devices import SimulatedDevice, SimulatedDevices
from manyhands.worker.loop.hosting import Hosting
from manyhands.worker.loop.watchdog import Watchdog
from manyhands.worker.loop.worker_loop import WorkerLoop
from manyhands.worker.planning.planner import Planner
from manyhands.worker.values.planner_values import Growth

MB = 2**20
RAISES, GIVES_NAN, TOO_WIDE = 666, 667, 668


@dataclass
class MadeUp:
    """A model that is told how to misbehave and records its calls."""

    name: str = "sums"
    weights_bytes: int = 10 * MB
    device: SimulatedDevice | None = None
    tokens_max: int | None = None  # a batch with more tokens runs out of memory
    disguise: str = "could not create a primitive"
    width: int = 1
    load_error: Exception | None = None
    released: threading.Event | None = None  # batches wait until this is set
    computed: Counter[int] = field(default_factory=Counter)
    give_back_error: Exception | None = None
    given_back: int = 0
    loads: int = 0
    closes: int = 0
    failures: int = 0
    inside: int = 0
    inside_most: int = 0

    @property
    def description(self) -> Description:
        return Description(
            name=self.name,
            task="embed",
            backend="made-up",
            weights_bytes=self.weights_bytes,
            fingerprint=self.name,
            length_max=512,
            width=self.width,
            activation=Growth(1000.0, 100.0, 0.0),
        )

    def load(self, device: str = "cpu") -> "MadeUp":
        if self.load_error is not None:
            raise self.load_error
        self.loads += 1
        if self.device is not None:
            self.device.take(self.weights_bytes)
        return self

    def give_back(self) -> None:
        self.given_back += 1
        if self.give_back_error is not None:
            raise self.give_back_error

    def close(self) -> None:
        self.closes += 1
        if self.device is not None:
            self.device.give_back(self.weights_bytes)

    def compute(self, rows: Sequence[Tokens], length: int) -> Any:
        self.inside += 1
        self.inside_most = max(self.inside_most, self.inside)
        try:
            return self._compute(rows, length)
        finally:
            self.inside -= 1

    def _compute(self, rows: Sequence[Tokens], length: int) -> Any:
        if self.released is not None:
            assert self.released.wait(60)
        if self.tokens_max is not None and len(rows) * length > self.tokens_max:
            self.failures += 1
            raise RuntimeError(self.disguise)
        if any(RAISES in row.ids for row in rows):
            self.failures += 1
            raise ValueError("this row cannot be computed")
        sums = np.array([[float(sum(row.ids))] for row in rows], np.float32)
        for place, row in enumerate(rows):
            self.computed[sum(row.ids)] += 1
            if GIVES_NAN in row.ids:
                sums[place] = np.nan
        return sums


def rows_of(*numbers: int) -> list[tuple[Tokens, int]]:
    return [(Tokens([number, 0]), 2) for number in numbers]


@asynccontextmanager
async def engine_of(
    *models: MadeUp,
    devices: Devices | None = None,
    threads: int = 1,
    in_flight_max: int | None = None,
    stuck_after_s: float = 60.0,
    **of_spec: Any,
) -> AsyncIterator[WorkerLoop]:
    devices = devices or SimulatedDevices({"cpu": SimulatedDevice(64 * 1024 * MB)})
    hosting = Hosting({model.name: model for model in models}, threads)
    in_flight_max = in_flight_max or threads
    planner = Planner(in_flight_max=in_flight_max, abreast_max=in_flight_max)
    engine = WorkerLoop(hosting, planner, devices, Watchdog(stuck_after_s))
    engine.start([model.description.spec(**{"in_flight_max": in_flight_max, **of_spec}) for model in models])
    try:
        yield engine
    finally:
        await engine.close()
