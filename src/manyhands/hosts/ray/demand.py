"""Tells Ray's autoscaler about attempts that wait for a node that does not exist yet.

Attempts that ask for resources do not need this: their reservations are demand as soon as they are requested.
"""

import time
from typing import Any

#: Each change is a call to the head node, and a new node takes far longer to start.
_EVERY_S = 2.0


class Demand:
    def __init__(self) -> None:
        self._wanted: dict[int, tuple[dict[str, float], dict[str, str]]] = {}
        self._told: list[Any] = []
        self._told_at = float("-inf")

    def wants(self, attempt: int, resources: dict[str, float], labels: dict[str, str]) -> None:
        self._wanted[attempt] = (resources, labels)
        self._tell()

    def met(self, attempt: int) -> None:
        if self._wanted.pop(attempt, None) is not None:
            self._tell(at_once=not self._wanted)

    def clear(self) -> None:
        self._wanted.clear()
        self._tell(at_once=True)

    def _tell(self, at_once: bool = False) -> None:
        now = time.monotonic()
        wanted = [self._wanted[attempt] for attempt in sorted(self._wanted)]
        if wanted == self._told or (now - self._told_at < _EVERY_S and not at_once):
            return
        from ray.autoscaler.sdk import request_resources

        bundles = [resources for resources, _ in wanted]
        selectors = [labels for _, labels in wanted]
        request_resources(bundles=bundles, bundle_label_selectors=selectors if any(selectors) else None)
        self._told, self._told_at = wanted, now
