"""The journal in memory, as one dispatcher holds it. What the dispatcher appends after its death is not written."""

from collections.abc import Callable, Iterable, Sequence

from manyhands.core.events import AnyEvent
from manyhands.engine.sim.dispatched.process_life import ProcessLife
from manyhands.engine.store.memory_store import MemoryJournal, MemoryStore


class SimulatedJournal(MemoryJournal):
    def __init__(self, store: MemoryStore, life: ProcessLife, acting: Callable[[str], None]) -> None:
        """`acting` is called at the opening and around each write. It may raise what a broken store would raise."""
        acting("open")
        super().__init__(store)
        self._life = life
        self._acting = acting
        store.lead(self)

    def append(self, events: Iterable[AnyEvent], answered: Sequence[int] = ()) -> int:
        self._acting("append")
        if self._life.is_dead:
            return self.last
        last = super().append(events, answered)
        self._acting("appended")
        return last

    def save_snapshot(self, seq: int, data: bytes) -> None:
        self._acting("snapshot")
        if not self._life.is_dead:
            super().save_snapshot(seq, data)
