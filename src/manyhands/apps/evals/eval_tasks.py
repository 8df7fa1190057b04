"""Hands tasks of an eval to the dispatcher and waits until they end."""

import asyncio
from collections.abc import Sequence

from manyhands.apps.evals.trial.trials import taking_up
from manyhands.core.events import AnyEvent, Input
from manyhands.core.state import Record, Run
from manyhands.core.values.task import TERMINAL, Task
from manyhands.engine.dispatcher import Dispatcher

Waited = tuple[str, str]  # run, task


class EvalTasks:
    def __init__(self, dispatcher: Dispatcher, source: str) -> None:
        self.dispatcher = dispatcher
        self.book = dispatcher.book
        self._source = source
        self._waiting: dict[Waited, asyncio.Future[Record]] = {}
        dispatcher.recorded.append(self._look)

    def close(self) -> None:
        self.dispatcher.recorded.remove(self._look)
        for future in self._waiting.values():
            future.cancel()

    def hand_in(self, *tasks: tuple[str, Task]) -> list[asyncio.Future[Record]]:
        """Hands in (run, task) pairs, which start together if there is room. Each future has the record at the end."""
        for event in self.events_of(*tasks):
            self.dispatcher.tell(event)
        return self.wait_for(*tasks)

    def events_of(self, *tasks: tuple[str, Task]) -> list[Input]:
        now = self.dispatcher.clock.now()
        return [
            event
            for name, task in tasks
            for event in taking_up(self.book.runs.get(name), name, now, task, self._source)
        ]

    def wait_for(self, *tasks: tuple[str, Task]) -> list[asyncio.Future[Record]]:
        return [self._wait_for(name, task.id) for name, task in tasks]

    @property
    def waiting(self) -> list[Waited]:
        return list(self._waiting)

    def runs_in_flight(self) -> list[Run]:
        names = dict.fromkeys(run for run, _ in self._waiting)
        return [self.book.runs[name] for name in names if name in self.book.runs]

    def _wait_for(self, run: str, task: str) -> asyncio.Future[Record]:
        future: asyncio.Future[Record] = asyncio.get_running_loop().create_future()
        record = self._record(run, task)
        if record is not None and record.state in TERMINAL:
            future.set_result(record)
        else:
            self._waiting[run, task] = future
        return future

    def _look(self, batch: Sequence[AnyEvent]) -> None:
        for (run, task), future in list(self._waiting.items()):
            record = self._record(run, task)
            if record is not None and record.state in TERMINAL:
                del self._waiting[run, task]
                if not future.done():
                    future.set_result(record)

    def _record(self, run: str, task: str) -> Record | None:
        known = self.book.runs.get(run)
        return known.records.get(task) if known is not None else None
