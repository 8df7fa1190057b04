"""An executor before the real one: a task that asks for a worktree gets one, and what it did there lands."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

from msgspec.structs import replace

from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import DONE, Ending, EndingKind
from manyhands.core.values.task import WORKTREE, Task
from manyhands.errors import ManyhandsError, UsageError
from manyhands.hosts.executors.executor import Ended, Executor
from manyhands.hosts.executors.in_flight import InFlight
from manyhands.hosts.landing.commits import find_landed, name_of
from manyhands.hosts.landing.git import CEILING
from manyhands.hosts.landing.landing_record import LandingRecord, earlier_records
from manyhands.hosts.landing.landing_site import LandingSite
from manyhands.hosts.landing.repository import Repository
from manyhands.hosts.landing.touchdown import Touchdown
from manyhands.hosts.landing.worktree import Worktree, worktree_for


class WorktreeExecutor:
    def __init__(
        self, make_inner: Callable[[Ended], Executor], ended: Ended, ground: LandingSite, grace_s: float, cwd: str = ""
    ) -> None:
        """`cwd` is where in the workspace tasks of this host run."""
        self._ended = ended
        self._ground = ground
        self._cwd = cwd
        self._steps: dict[int, asyncio.Future[Ending]] = {}  # attempts of ours that the inner executor is at
        self._ours: set[int] = set()
        self._in_flight = InFlight(self._end, grace_s)
        self._inner = make_inner(self._step_ended)

    def start(self, order: StartAttempt, directory: str) -> None:
        if order.task.workspace != WORKTREE:
            self._inner.start(order, directory)
            return
        self._ours.add(order.attempt)
        self._in_flight.start(order.attempt, self._carry(order, directory))

    def release(self, attempt: int) -> None:
        self._inner.release(attempt)

    def stop(self, attempt: int) -> None:
        if attempt in self._ours:
            self._in_flight.stop(attempt)
        else:
            self._inner.stop(attempt)

    async def close(self) -> None:
        await self._in_flight.close()
        await self._inner.close()

    def _step_ended(self, attempt: int, ending: Ending) -> None:
        step = self._steps.pop(attempt, None)
        if step is None:
            self._ended(attempt, ending)
        elif not step.done():
            step.set_result(ending)

    def _end(self, attempt: int, ending: Ending) -> None:
        self._ours.discard(attempt)
        self._ended(attempt, ending)

    async def _carry(self, order: StartAttempt, directory: str) -> Ending:
        try:
            return await self._attempt(order, directory)
        except ManyhandsError as error:
            return _failed_by(error)

    async def _attempt(self, order: StartAttempt, directory: str) -> Ending:
        ground = self._ground
        repository = await ground.repository()
        facts = await asyncio.shield(ground.facts)
        if order.number > 1 and (landed := await ground.aside(_landed_before, repository, order, directory)):
            return landed
        worktree = await ground.aside(worktree_for, repository, ground.store, order.run, order.task.id, order.number)
        record = LandingRecord(repository.target, worktree.base, worktree.branch)
        touchdown = Touchdown(ground, order, directory, worktree, record)
        ground.queue.enter(order.attempt, facts.place_of(order.run, order.task.id))
        try:
            await ground.aside(worktree.make)
            await ground.aside(record.save, directory)
            inside = replace(order, task=self._inside(order.task, worktree))
            ending = await self._step(inside, directory)
            if ending.kind is not EndingKind.DONE:
                return ending
            try:
                return await touchdown.land(ending, partial(self._check, inside, directory))
            except ManyhandsError as error:
                return _failed_by(error, ending)
        finally:
            ground.queue.leave(order.attempt)
            await ground.to_the_end(partial(ground.remove, worktree, touchdown.keeps_branch))

    def _inside(self, task: Task, worktree: Worktree) -> Task:
        # The worktree lies inside the project: without its own .git, the project's would be found.
        env = {CEILING: str(worktree.path.parent), **(task.env or {})}
        return replace(task, workspace=str(worktree.workspace / self._cwd), env=env)

    async def _check(self, order: StartAttempt, directory: str, argv: Sequence[str]) -> Ending:
        return await self._step(replace(order, task=replace(order.task, run=tuple(argv), check=())), directory)

    async def _step(self, order: StartAttempt, directory: str) -> Ending:
        """By the inner executor to its end. Stopped, it is never done: what it did is not to land any more."""
        step = self._steps[order.attempt] = asyncio.get_running_loop().create_future()
        self._inner.start(order, directory)
        was_stopped = False
        while not step.done():
            try:
                await asyncio.shield(step)
            except asyncio.CancelledError:
                was_stopped = True
                self._inner.stop(order.attempt)
        ending: Ending = step.result()
        if was_stopped and ending.kind is EndingKind.DONE:
            return replace(ending, kind=EndingKind.CANCELLED, detail="stopped before it landed")
        return ending


def _landed_before(repository: Repository, order: StartAttempt, directory: str) -> Ending | None:
    """An attempt that was lost may have landed in its last moment: then the task is done, and not done again."""
    for number, record in earlier_records(directory, order.number):
        landed = find_landed(repository, record.base, name_of(order))
        if landed is not None:
            detail = f"landed as {landed[:10]} on {repository.target} by attempt {number}, whose ending was lost"
            return Ending(EndingKind.DONE, detail)
    return None


def _failed_by(error: ManyhandsError, ending: Ending = DONE) -> Ending:
    """What it used until then was paid for."""
    detail = f"{error.message}; {error.hint}" if error.hint else error.message
    return replace(ending, kind=EndingKind.FAILED, detail=detail, permanent=isinstance(error, UsageError))
