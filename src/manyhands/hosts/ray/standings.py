"""What is known about model workers: the models in their memory, the room left there, and what they have to do."""

import asyncio
import time
from collections.abc import Iterable, Mapping
from typing import Generic

from manyhands.hosts.ray.carrying import Carrying, Gone
from manyhands.hosts.ray.node_placement import Post, WorkerStanding

#: A model is loaded in seconds and held for minutes.
_LOOK_EVERY_S = 2.0
#: Assumed for a worker that has not reported yet.
_NOTHING: tuple[tuple[str, ...], float] = ((), float("inf"))


class Standings(Generic[Post]):
    def __init__(self) -> None:
        self.at: dict[Post, Carrying] = {}
        self._told: dict[Post, tuple[tuple[str, ...], float]] = {}
        self._promised: dict[Post, set[str]] = {}  # models of attempts sent since the worker last reported
        self._looked_at = float("-inf")
        self._looking: asyncio.Task[None] | None = None

    def of(self, posts: Iterable[Post], coming: Mapping[Post, int]) -> dict[Post, WorkerStanding]:
        """The state of each worker. `coming` counts attempts on their way there."""
        self._look()
        found: dict[Post, WorkerStanding] = {}
        for post in posts:
            carrying = self.at.get(post)
            in_flight = coming.get(post, 0) + (len(carrying.attempts) if carrying is not None else 0)
            told = self._told.get(post, _NOTHING)
            found[post] = WorkerStanding(in_flight, told[0] + tuple(self._promised.get(post, ())), told[1])
        return found

    def promise(self, post: Post, model: str) -> None:
        self._promised.setdefault(post, set()).add(model)

    def forget(self, post: Post) -> None:
        self.at.pop(post, None)
        self._told.pop(post, None)
        self._promised.pop(post, None)

    def _look(self) -> None:
        """Ask the workers in the background: a late answer delays no attempt."""
        if time.monotonic() - self._looked_at > _LOOK_EVERY_S and (self._looking is None or self._looking.done()):
            self._looked_at = time.monotonic()
            self._looking = asyncio.ensure_future(self._ask_all())

    async def _ask_all(self) -> None:
        for post, carrying in list(self.at.items()):
            try:
                told = await carrying.ask("standing")
            except Gone:
                if self.at.get(post) is carrying:
                    self.forget(post)
                continue
            if told is not None and self.at.get(post) is carrying:
                self._told[post] = told
                if not carrying.attempts:
                    self._promised.pop(post, None)
