"""What the worker reports about itself: its models, its health and its metrics."""

import time
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from starlette.requests import Request
from starlette.responses import Response

from manyhands.worker.backends.backend_choice import image_tower_of
from manyhands.worker.http.bodies import as_json
from manyhands.worker.loop.worker_loop import WorkerLoop

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Pages:
    def __init__(self, engine: WorkerLoop) -> None:
        self._engine = engine
        self._began_at = int(time.time())
        self._registry = CollectorRegistry()
        self._registry.register(_Figures(engine))

    async def models(self, request: Request) -> Response:
        descriptions = self._engine.descriptions()
        images = {each.name for each in descriptions if each.modality == "image"}
        phase_of = {each.model: each.phase for each in self._engine.statistics().models}
        rows = [
            {
                "id": each.name,
                "object": "model",
                "created": self._began_at,
                "owned_by": "manyhands",
                "task": each.task,
                "modalities": ["text", "image"] if image_tower_of(each.name) in images else ["text"],
                "backend": each.backend,
                "length_max": each.length_max,
                "width": each.width,
                "state": phase_of.get(each.name, ""),
            }
            for each in descriptions
            if each.name not in images
        ]
        return as_json({"object": "list", "data": rows})

    async def health(self, request: Request) -> Response:
        trouble = self._engine.trouble() or ("stopping" if self._engine.is_draining else "")
        told = {"status": "ok" if not trouble else "unwell", "detail": trouble}
        return as_json(told, 503 if trouble else 200)

    async def metrics(self, request: Request) -> Response:
        return Response(generate_latest(self._registry), headers={"content-type": METRICS_TYPE})


class _Figures:
    """Metrics that are read from the engine at each request."""

    def __init__(self, engine: WorkerLoop) -> None:
        self._engine = engine

    def describe(self) -> Iterator[Metric]:
        return iter(())

    def collect(self) -> Iterator[Metric]:
        yield from self._now()
        yield from self._since_the_beginning()

    def _now(self) -> Iterator[Metric]:
        statistics = self._engine.statistics()
        well = GaugeMetricFamily("manyhands_worker_up", "1 while the worker is healthy")
        well.add_metric([], 0.0 if self._engine.trouble() else 1.0)
        yield well
        for name, about in (
            ("waiting", "items that wait"),
            ("in_flight", "batches in flight"),
            ("bytes", "memory set aside for the loaded model"),
        ):
            family = GaugeMetricFamily(f"manyhands_worker_{name}", about, labels=["model"])
            for model in statistics.models:
                family.add_metric([model.model], getattr(model, name))
            yield family
        for name, about in (
            ("free_bytes", "free memory of the device"),
            ("room_bytes", "memory of the device that may still be set aside"),
        ):
            family = GaugeMetricFamily(f"manyhands_worker_device_{name}", about, labels=["device"])
            for device in statistics.devices:
                family.add_metric([device.device], getattr(device, name))
            yield family

    def _since_the_beginning(self) -> Iterator[Metric]:
        counts = self._engine.counts
        for name, values, about in (
            ("items", counts.items, "items computed"),
            ("batches", counts.batches, "batches computed"),
            ("tokens", counts.tokens, "tokens computed"),
            ("padded_tokens", counts.padded_tokens, "tokens computed, padding included"),
            ("compute_seconds", counts.compute_s, "time spent computing"),
            ("failed_batches", counts.batches_failed, "batches that failed as a whole"),
            ("out_of_memory", counts.batches_out_of_memory, "batches that ran out of memory"),
            ("loads", counts.loads, "times the model was loaded"),
            ("evictions", counts.evictions, "times the model was evicted"),
        ):
            family = CounterMetricFamily(f"manyhands_worker_{name}", about, labels=["model"])
            for model in self._engine.descriptions():
                family.add_metric([model.name], values.get(model.name, 0))
            yield family
