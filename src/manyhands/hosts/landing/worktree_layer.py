"""An attempt in its own worktree, from making the worktree to landing the attempt's work."""

import asyncio
from collections.abc import Sequence
from functools import partial

from msgspec.structs import replace

from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import DONE, Ending, EndingKind
from manyhands.core.values.task import WORKTREE, Task
from manyhands.errors import ManyhandsError, UsageError
from manyhands.hosts.executors.layered_executor import RunInner
from manyhands.hosts.landing.commits import find_landed, name_of
from manyhands.hosts.landing.git import CEILING
from manyhands.hosts.landing.landing_record import LandingRecord, earlier_records
from manyhands.hosts.landing.landing_site import LandingSite
from manyhands.hosts.landing.repository import Repository
from manyhands.hosts.landing.touchdown import Touchdown
from manyhands.hosts.landing.worktree import Worktree, worktree_for


class WorktreeLayer:
    """A layer around an executor: a task that asks for a worktree gets one, and its work there lands."""

    def __init__(self, site: LandingSite, cwd: str = "") -> None:
        """`cwd` is where in the workspace tasks of this host run."""
        self._site = site
        self._cwd = cwd

    def takes(self, order: StartAttempt) -> bool:
        return order.task.workspace == WORKTREE

    async def carry(self, order: StartAttempt, directory: str, run: RunInner) -> Ending:
        try:
            return await self._attempt(order, directory, run)
        except ManyhandsError as error:
            return _failed_by(error)

    async def _attempt(self, order: StartAttempt, directory: str, run: RunInner) -> Ending:
        site = self._site
        repository = await site.repository()
        facts = await asyncio.shield(site.facts)
        since = facts.first_of_this_work(order.run, order.task.id)
        if order.number > since and (
            landed := await site.in_thread(_landed_before, repository, order, directory, since)
        ):
            return landed
        worktree = await site.in_thread(worktree_for, repository, site.store, order.run, order.task.id, order.number)
        record = LandingRecord(repository.target, worktree.base, worktree.branch)
        touchdown = Touchdown(site, order, directory, worktree, record)
        site.queue.enter(order.attempt, facts.place_of(order.run, order.task.id))
        try:
            await site.in_thread(worktree.make)
            await site.in_thread(record.save, directory)
            inside = replace(order, task=self._inside(order.task, worktree))
            ending = await run(inside)
            if ending.kind is not EndingKind.DONE:
                return ending
            try:
                return await touchdown.land(ending, partial(_check, inside, run))
            except ManyhandsError as error:
                return _failed_by(error, ending)
        finally:
            site.queue.leave(order.attempt)
            await site.to_the_end(partial(site.remove, worktree, touchdown.keeps_branch))

    def _inside(self, task: Task, worktree: Worktree) -> Task:
        # The worktree is inside the project. Without its own .git, git would find the project's.
        env = {CEILING: str(worktree.path.parent), **(task.env or {})}
        return replace(task, workspace=str(worktree.workspace / self._cwd), env=env)


async def _check(order: StartAttempt, run: RunInner, argv: Sequence[str]) -> Ending:
    return await run(replace(order, task=replace(order.task, run=tuple(argv), check=())))


def _landed_before(repository: Repository, order: StartAttempt, directory: str, since: int) -> Ending | None:
    """The ending if a lost attempt landed in its last moment: then the task is done and does not run again.

    Attempts before the one numbered `since` were at other work, which may have landed too.
    """
    for number, record in earlier_records(directory, order.number):
        if number < since:
            continue
        landed = find_landed(repository, record.base, name_of(order))
        if landed is not None:
            detail = f"landed as {landed[:10]} on {repository.target} by attempt {number}, whose ending was lost"
            return Ending(EndingKind.DONE, detail)
    return None


def _failed_by(error: ManyhandsError, ending: Ending = DONE) -> Ending:
    """The failed ending. It keeps what the attempt used until then, because that was paid for."""
    detail = f"{error.message}; {error.hint}" if error.hint else error.message
    return replace(ending, kind=EndingKind.FAILED, detail=detail, permanent=isinstance(error, UsageError))
