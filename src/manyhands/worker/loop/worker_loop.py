"""The loop around the planner: it reports what happened, carries out decisions, and gives every item its answer.

Everything here runs in one event loop. Threads prepare and compute, and report back to it.
"""

import asyncio
import itertools
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from manyhands.worker.backends.backend import Description, ModelInput, Output, Pixels, Tokens
from manyhands.worker.backends.out_of_memory import is_out_of_memory
from manyhands.worker.devices.device import Devices
from manyhands.worker.loop.batch_peaks import Peaks
from manyhands.worker.loop.computing import Computed, compute, reason_of
from manyhands.worker.loop.counting import LoopCounts
from manyhands.worker.loop.device_time import DeviceTime
from manyhands.worker.loop.hosting import Hosting
from manyhands.worker.loop.watchdog import TIMES_PREDICTED, Watchdog
from manyhands.worker.planning.planner import Planner
from manyhands.worker.planning.statistics import Statistics
from manyhands.worker.values import planner_values as m
from manyhands.worker.values.item_answers import Busy, ItemAnswer, NoSuchModel, Stopping, Stuck, TooMuch, Trouble

#: How often the watchdog checks for stuck batches.
LOOK_EVERY_S = 1.0
#: After this long without a batch, memory that was kept for the next batch is handed back.
IDLE_S = 1.0
_STUCK = Trouble("stuck", "the item's batch does not end; restart the worker")
_STOPPED = Trouble("stopped", "the worker was stopped")


class _Pending(Struct):
    """An item that a caller waits for."""

    row: ModelInput
    place: int  # its index in the request
    request: "_Request"


class _Request(Struct):
    answers: list[ItemAnswer | Trouble | None]
    left: int
    done: asyncio.Future[None]

    def settle(self, place: int, answer: ItemAnswer | Trouble) -> None:
        if self.answers[place] is None:
            self.answers[place] = answer
            self.left -= 1
            if not self.left and not self.done.done():
                self.done.set_result(None)


class WorkerLoop:
    def __init__(self, hosting: Hosting, planner: Planner, devices: Devices, watchdog: Watchdog | None = None) -> None:
        self._hosting = hosting
        self._planner = planner
        self._devices = devices
        self._watchdog = watchdog or Watchdog()
        self._loop = asyncio.get_running_loop()
        self._ids = itertools.count(1)
        self._pending: dict[int, _Pending] = {}
        self._batches: dict[int, m.Batch] = {}
        self._told: list[m.PlannerEvent] = []
        self._happened = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._turning: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._draining = False
        self._broken = ""
        self._memory: dict[str, m.DeviceMemory] = {}
        self._begun = 0  # batches, loads and evictions since the start
        self._asides = 0  # loads and evictions under way
        self._ended_at: float | None = None  # when the last batch ended; None once its memory was handed back
        self._ran_out: dict[str, int] = defaultdict(int)  # device → batches that ran out of memory on it
        self._peaks = Peaks()
        self._device_time = DeviceTime()
        self.counts = LoopCounts()

    def start(self, specs: Sequence[m.ModelSpec]) -> None:
        self._tell(m.ModelsConfigured(_now(), tuple(specs)))
        self._turning = self._loop.create_task(self._turn())
        self._turning.add_done_callback(self._turned)
        self._watching = self._loop.create_task(self._watch())

    def description(self, model: str) -> Description:
        backend = self._hosting.backends.get(model)
        if backend is None:
            names = ", ".join(f"`{name}`" for name in self._hosting.backends)
            raise NoSuchModel(f"there is no model `{model}`", f"this worker hosts {names}")
        return backend.description

    def descriptions(self) -> list[Description]:
        return [backend.description for backend in self._hosting.backends.values()]

    def statistics(self) -> Statistics:
        return self._planner.statistics()

    @property
    def is_draining(self) -> bool:
        return self._draining

    def trouble(self) -> str:
        """Why the worker is unhealthy, or "" if it is healthy."""
        return self._broken or self._watchdog.trouble(_now()) or self._devices.trouble

    async def run(
        self, model: str, rows: Sequence[tuple[ModelInput, int]], app: str = "", priority: int = 2
    ) -> list[ItemAnswer | Trouble]:
        """One answer for each row. Rows come with their lengths. If not all rows fit into the queue, none is taken."""
        if not rows:
            return []
        self._refuse_if_unwell()
        request = _Request([None] * len(rows), len(rows), self._loop.create_future())
        items = []
        for place, (row, length) in enumerate(rows):
            items.append(m.Item(next(self._ids), model, length, app, priority))
            self._pending[items[-1].id] = _Pending(row, place, request)
        self._tell(m.ItemsArrived(_now(), tuple(items)))
        try:
            await request.done
        except asyncio.CancelledError:
            self._tell(m.ItemsCancelled(_now(), tuple(item.id for item in items)))
            raise
        finally:
            for item in items:
                self._pending.pop(item.id, None)
        return [answer for answer in request.answers if answer is not None]

    async def drain(self, within_s: float) -> None:
        """Accept no more requests, and wait for those that were accepted."""
        self._draining = True
        deadline = _now() + within_s
        while self._pending and _now() < deadline and not self.trouble():
            waiting = [pending.request.done for pending in self._pending.values()]
            await asyncio.wait(waiting, timeout=deadline - _now(), return_when=asyncio.FIRST_COMPLETED)

    async def close(self) -> None:
        self._draining = True
        for task in (self._turning, self._watching):
            if task is not None:
                task.cancel()
                await asyncio.wait({task})
        if self._timer is not None:
            self._timer.cancel()
        self._settle_all(_STOPPED)
        self._hosting.close()
        await self._devices.close()

    def _refuse_if_unwell(self) -> None:
        if self._draining:
            raise Stopping("the worker is stopping")
        if trouble := self._broken or self._watchdog.trouble(_now()):
            raise Stuck(trouble, "restart the worker")

    def _tell(self, event: m.PlannerEvent) -> None:
        self._told.append(event)
        self._happened.set()

    async def _turn(self) -> None:
        while True:
            await self._happened.wait()
            self._happened.clear()
            # A reading takes a quarter of a millisecond, so skip it if the items can only be queued.
            only_queued = all(isinstance(event, m.ItemsArrived | m.ItemsCancelled) for event in self._told)
            memory: dict[str, m.DeviceMemory] = {}
            known = -1
            if not only_queued or self._planner.wants_reading():
                while known < (ran_out := _out_of_memory(self._told)):
                    known = ran_out  # a batch that runs out during a reading needs a newer one
                    memory = await self._devices.read()
            self._memory = memory or self._memory
            now = _now()
            readings = [m.MemoryRead(now, device, read) for device, read in memory.items()]
            told, self._told = self._told, []
            if events := [*readings, *told]:
                for decision in self._planner.handle(*events):
                    self._carry_out(decision)

    def _turned(self, task: asyncio.Task[None]) -> None:
        """Fail all items if the loop ended by a bug, so that no caller waits forever. Otherwise it was cancelled."""
        if not task.cancelled() and (error := task.exception()) is not None:
            self._broken = f"the worker's planner stopped: {reason_of(error)}"
            self._settle_all(Trouble("failed", self._broken))

    def _carry_out(self, decision: m.PlannerDecision) -> None:
        match decision:
            case m.RunBatch(batch, device):
                self._run(batch, device)
            case m.LoadModel(model, device):
                self._load(model, device)
            case m.EvictModel(model):
                self._evict(model)
            case m.RefuseItems(ids, reason, retry_after_s):
                refusal = TooMuch(reason) if retry_after_s is None else Busy(reason, retry_after_s)
                for pending in filter(None, map(self._pending.get, ids)):
                    if not pending.request.done.done():
                        pending.request.done.set_exception(refusal)
            case m.FailItems(ids, reason, out_of_memory):
                self._settle(ids, Trouble("out_of_memory" if out_of_memory else "failed", reason))
            case m.WakePlannerAt(at):
                if self._timer is not None:
                    self._timer.cancel()
                self._timer = self._loop.call_later(max(0.0, at - _now()), self._wake)

    def _wake(self) -> None:
        self._tell(m.PlannerWoke(_now()))

    def _run(self, batch: m.Batch, device: str) -> None:
        description = self.description(batch.model)
        # Skip items whose callers stopped waiting while the batch was planned.
        rows = [pending.row if (pending := self._pending.get(id)) else None for id in batch.items]
        wanted = [row for row in rows if row is not None]
        places = [id for id, row in zip(batch.items, rows, strict=True) if row is not None]
        if not wanted:
            self._tell(m.BatchEnded(_now(), batch.id))
            return
        self._batches[batch.id] = batch
        self._begun += 1
        begun, ran_out = self._begun, self._ran_out[device]
        width = None if description.task == "generate" else description.width
        model = self._hosting.loaded(batch.model)
        # The length of an answer is unknown. A generator that makes less than one token per second counts as stuck.
        predicted_s = batch.length / TIMES_PREDICTED if width is None else batch.seconds
        on_cpu = m.CPU in self._memory  # on other devices, this process's own memory says nothing about the batch
        is_alone = len(self._batches) == 1 and not self._asides
        may_be_measured = width is not None and on_cpu and is_alone and self._peaks.wants(batch.model)

        def work() -> Computed:
            if self._ran_out[device] != ran_out:
                return Computed(begun=False)  # it was planned with memory that is no longer free
            self._loop.call_soon_threadsafe(self._watchdog.began, batch.id, batch.model, _now(), predicted_s)
            is_measured = may_be_measured and self._peaks.begin(model)
            computed = compute(model, wanted, batch.length, width)
            peak_bytes = self._peaks.end() if is_measured else None
            # The peak is meaningless if another batch, load or eviction ran meanwhile, or if items were skipped.
            if self._begun == begun and len(wanted) == len(batch.items):
                computed.peak_bytes = peak_bytes
            if computed.out_of_memory:
                self._ran_out[device] += 1  # set here: this thread takes the next batch before the loop knows
            return computed

        doing = self._loop.run_in_executor(self._hosting.pool_of(batch.model), work)
        doing.add_done_callback(lambda done: self._computed(batch, device, places, wanted, done))

    def _computed(
        self, batch: m.Batch, device: str, ids: Sequence[int], rows: Sequence[ModelInput], done: asyncio.Future[Any]
    ) -> None:
        self._watchdog.ended(batch.id)
        self._batches.pop(batch.id, None)
        if done.cancelled():
            return
        error = done.exception()
        computed: Computed = done.result() if error is None else Computed(reason=reason_of(error))
        self._ended_at = _now()
        description = self.description(batch.model)
        now = _now()
        if not computed.begun:
            self._tell(m.BatchReturned(now, batch.id))
        elif computed.out_of_memory:
            self.counts.out_of_memory(batch.model)
            self._tell(m.BatchOutOfMemory(now, batch.id))
        elif computed.reason:
            self.counts.failed(batch.model)
            self._tell(m.BatchFailed(now, batch.id, computed.reason))
        else:
            for id, row, output in zip(ids, rows, computed.outputs, strict=True):
                self._settle((id,), _answer(row, output))
            generated = description.task == "generate"
            tokens = _tokens_of(rows, computed.outputs)
            self.counts.computed(batch, tokens, tokens if generated else len(rows) * batch.length, computed.took_s)
            # The duration of an answer does not predict the next one, and a batch with skipped items is not typical.
            is_telling = not generated and len(ids) == len(batch.items)
            took_s = self._device_time.of(device, computed) if is_telling else None
            self._tell(m.BatchEnded(now, batch.id, took_s, computed.peak_bytes))

    def _load(self, model: str, device: str) -> None:
        # `self._memory` lists devices by id, in the order in which programs number them.
        place = m.CPU if device == m.CPU else f"cuda:{list(self._memory).index(device)}"
        before, began = self._memory, _now()
        alone = not self._batches

        def loaded(done: asyncio.Future[None]) -> None:
            if done.cancelled():
                return
            if (error := done.exception()) is not None:
                reason = reason_of(error)
                self._tell(m.ModelLoadFailed(_now(), model, reason, is_out_of_memory(error)))
                return
            self._loop.create_task(self._tell_loaded(model, before if alone else {}, _now() - began))

        self._aside(lambda: self._hosting.load(model, place), loaded)

    async def _tell_loaded(self, model: str, before: dict[str, m.DeviceMemory], took_s: float) -> None:
        grown: int | None = None
        if before and not self._batches:
            after = await self._devices.read()
            for device, memory in after.items():
                was = before.get(device)
                if was is not None and was.own_bytes is not None and memory.own_bytes is not None:
                    grown = max(grown or 0, memory.own_bytes - was.own_bytes)
        self.counts.loaded(model)
        self._tell(m.ModelLoaded(_now(), model, grown or None, took_s))

    def _evict(self, model: str) -> None:
        def evicted(done: asyncio.Future[None]) -> None:
            if not done.cancelled():
                self.counts.evicted(model)
                self._tell(m.ModelEvicted(_now(), model))

        self._aside(lambda: self._hosting.evict(model), evicted)

    def _aside(self, work: Callable[[], None], then: Callable[[asyncio.Future[None]], None]) -> None:
        self._begun += 1
        self._asides += 1

        def ended(done: asyncio.Future[None]) -> None:
            self._asides -= 1
            then(done)

        self._loop.run_in_executor(self._hosting.loading_pool, work).add_done_callback(ended)

    def _hand_back(self) -> None:
        """Hand back memory kept for the next batch: another model or another process may need it."""
        self._ended_at = None
        self._aside(self._hosting.give_back, lambda done: self._wake())

    def _settle(self, ids: Sequence[int], answer: ItemAnswer | Trouble) -> None:
        for id in ids:
            pending = self._pending.pop(id, None)
            if pending is not None:
                pending.request.settle(pending.place, answer)

    def _settle_all(self, trouble: Trouble) -> None:
        self._settle(list(self._pending), trouble)

    async def _watch(self) -> None:
        """Fail the items of batches that do not end. Their threads cannot be stopped."""
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            if self._ended_at is not None and not self._batches and _now() - self._ended_at >= IDLE_S:
                self._hand_back()
            for batch in self._watchdog.stuck(_now()):
                if batch in self._batches:
                    self._settle(self._batches[batch].items, _STUCK)
            if self._watchdog.trouble(_now()) and len(self._watchdog.stuck(_now())) >= self._hosting.threads:
                self._settle_all(_STUCK)  # no thread is left to compute the waiting items


def _out_of_memory(told: Sequence[m.PlannerEvent]) -> int:
    return sum(isinstance(event, m.BatchOutOfMemory) for event in told)


def _tokens_of(rows: Sequence[ModelInput], outputs: Sequence[Output | Trouble]) -> int:
    """How many tokens were computed: an encoder's input, or what a generator reports to have read and written."""
    tokens = 0
    for row, output in zip(rows, outputs, strict=True):
        if isinstance(row, Tokens | Pixels):
            tokens += _length_of(row)
        elif isinstance(output, dict):
            timings = output.get("timings", {})
            tokens += timings.get("prompt_n", 0) + timings.get("predicted_n", 0)
    return tokens


def _answer(row: ModelInput, output: Output | Trouble) -> ItemAnswer | Trouble:
    if isinstance(output, Trouble):
        return output
    return ItemAnswer(output, _length_of(row) if isinstance(row, Tokens | Pixels) else 0)


def _length_of(row: Tokens | Pixels) -> int:
    return row.length if isinstance(row, Pixels) else len(row.ids)


def _now() -> float:
    return time.monotonic()
