"""Counters for metrics: what the engine has done since it started."""

from collections import defaultdict

from manyhands.worker.values.planner_values import Batch


class LoopCounts:
    def __init__(self) -> None:
        self.items: dict[str, int] = defaultdict(int)
        self.batches: dict[str, int] = defaultdict(int)
        self.tokens: dict[str, int] = defaultdict(int)
        self.padded_tokens: dict[str, int] = defaultdict(int)
        self.compute_s: dict[str, float] = defaultdict(float)
        self.batches_failed: dict[str, int] = defaultdict(int)
        self.batches_out_of_memory: dict[str, int] = defaultdict(int)
        self.loads: dict[str, int] = defaultdict(int)
        self.evictions: dict[str, int] = defaultdict(int)

    def computed(self, batch: Batch, tokens: int, padded_tokens: int, took_s: float) -> None:
        self.batches[batch.model] += 1
        self.items[batch.model] += len(batch.items)
        self.compute_s[batch.model] += took_s
        self.tokens[batch.model] += tokens
        self.padded_tokens[batch.model] += padded_tokens

    def failed(self, model: str) -> None:
        self.batches_failed[model] += 1

    def out_of_memory(self, model: str) -> None:
        self.batches_out_of_memory[model] += 1

    def loaded(self, model: str) -> None:
        self.loads[model] += 1

    def evicted(self, model: str) -> None:
        self.evictions[model] += 1
