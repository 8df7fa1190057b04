"""Hands tasks of an eval to the dispatcher and waits until they end."""

import asyncio
from collections.abc import Sequence

from manyhands.apps.evals.trial.trials import SESSIONS, EvalTask, taking_up
from manyhands.core.events import AnyEvent, Input
from manyhands.core.state import Record, Run
from manyhands.core.values.provenance import Origin
from manyhands.core.values.task import TERMINAL
from manyhands.engine.dispatcher import Dispatcher

Waited = tuple[str, str]  # run, task


class EvalTasks:
    def __init__(self, dispatcher: Dispatcher, eval_id: str) -> None:
        self.dispatcher = dispatcher
        self.book = dispatcher.book
        self._eval_id = eval_id
        self._waiting: dict[Waited, tuple[Origin, asyncio.Future[Record]]] = {}
        dispatcher.recorded.append(self._look)

    def close(self) -> None:
        self.dispatcher.recorded.remove(self._look)
        for _, future in self._waiting.values():
            future.cancel()

    def hand_in(self, *tasks: EvalTask) -> list[asyncio.Future[Record]]:
        """Hands in tasks, which start together if there is room. Each future has the record at the end."""
        for event in self.events_of(*tasks):
            self.dispatcher.tell(event)
        return self.wait_for(*tasks)

    def events_of(self, *tasks: EvalTask) -> list[Input]:
        now = self.dispatcher.clock.now()
        return [
            event for wanted in tasks for event in taking_up(self.book.runs.get(wanted.run), now, wanted, self._eval_id)
        ]

    def wait_for(self, *tasks: EvalTask) -> list[asyncio.Future[Record]]:
        return [self._wait_for(wanted.run, wanted.task.id, wanted.origin) for wanted in tasks]

    @property
    def sessions(self) -> list[Waited]:
        """Those that are waited for."""
        return [waited for waited, (origin, _) in self._waiting.items() if origin in SESSIONS]

    def runs_in_flight(self) -> list[Run]:
        names = dict.fromkeys(run for run, _ in self._waiting)
        return [self.book.runs[name] for name in names if name in self.book.runs]

    def _wait_for(self, run: str, task: str, origin: Origin) -> asyncio.Future[Record]:
        future: asyncio.Future[Record] = asyncio.get_running_loop().create_future()
        record = self._record(run, task)
        if record is not None and record.state in TERMINAL:
            future.set_result(record)
        else:
            self._waiting[run, task] = origin, future
        return future

    def _look(self, batch: Sequence[AnyEvent]) -> None:
        for (run, task), (_, future) in list(self._waiting.items()):
            record = self._record(run, task)
            if record is not None and record.state in TERMINAL:
                del self._waiting[run, task]
                if not future.done():
                    future.set_result(record)

    def _record(self, run: str, task: str) -> Record | None:
        known = self.book.runs.get(run)
        return known.records.get(task) if known is not None else None
