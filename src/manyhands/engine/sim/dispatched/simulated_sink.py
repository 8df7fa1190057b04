"""A place that results are delivered to. It is part of the world and remembers everything it was given."""

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from manyhands.engine.delivery.sinks.letters import Letter
from manyhands.engine.delivery.sinks.sink import SinkError
from manyhands.engine.sim.dispatched.process_life import ProcessLife


class Reception(NamedTuple):
    """What becomes of one letter."""

    takes_s: float = 0.0
    is_taken: bool = True
    error: SinkError | None = None  # with `is_taken`: the sink has the letter, but the sender is not told


class SimulatedSink:
    def __init__(self, receive: Callable[[], Reception] = Reception) -> None:
        self.taken: list[str] = []  # keys, in order, also those that came twice
        self.receive = receive


class SinkLink:
    """How one dispatcher reaches a sink."""

    def __init__(self, sink: SimulatedSink, life: ProcessLife, acting: Callable[[str], None]) -> None:
        self._sink = sink
        self._life = life
        self._acting = acting

    async def send(self, letter: Letter) -> None:
        reception = self._sink.receive()
        await asyncio.sleep(reception.takes_s)
        if self._life.is_dead:
            raise SinkError("its sender is dead")
        if reception.is_taken:
            self._sink.taken.append(letter.key)
        self._acting("deliver")
        if reception.error is not None:
            raise reception.error

    async def close(self) -> None: ...
