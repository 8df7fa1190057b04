"""An attempt in its own worktree, from making the worktree to landing the attempt's work."""

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from manyhands.core.commands import StartAttempt
from manyhands.core.placement import matches
from manyhands.core.values.ending import DONE, Ending, EndingKind
from manyhands.core.values.task import WORKTREE, Task
from manyhands.errors import ManyhandsError, UsageError
from manyhands.hosts.artefacts.artefact_layer import with_artefacts
from manyhands.hosts.executors.layered_executor import RunInner
from manyhands.hosts.landing.claim_watch import watch_claims
from manyhands.hosts.landing.earlier_work import landed_before, waited_before
from manyhands.hosts.landing.git import CEILING
from manyhands.hosts.landing.landing_record import LandingRecord, earlier_records
from manyhands.hosts.landing.landing_site import LandingSite
from manyhands.hosts.landing.repository import Repository
from manyhands.hosts.landing.touchdown import Touchdown
from manyhands.hosts.landing.worktree import Worktree, at_place, continued, place_of, worktree_for


class WorktreeLayer:
    """A layer around an executor: a task that asks for a worktree gets one, and its work there lands."""

    def __init__(self, site: LandingSite, cwd: str = "", approve: bool = False) -> None:
        """`cwd` is where in the workspace tasks of this host run; `approve`: all its work waits for a person."""
        self._site = site
        self._cwd = cwd
        self._approve = approve

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
            landed := await site.in_thread(landed_before, repository, order, directory, since)
        ):
            return landed
        if waiting := await site.in_thread(waited_before, repository, order, directory):
            return waiting
        worktree = await site.in_thread(self._place, repository, order, directory)
        record = LandingRecord(repository.target, worktree.base, worktree.branch, place=place_of(worktree, site.store))
        touchdown = Touchdown(site, order, directory, worktree, record)
        site.queue.enter(order.attempt, facts.place_of(order.run, order.task.id))
        try:
            await site.in_thread(worktree.make)
            await site.in_thread(record.save, directory)
            inside = replace(order, task=self._inside(order.task, worktree))
            return await self._carry_inside(inside, worktree, directory, run, touchdown)
        finally:
            site.queue.leave(order.attempt)
            await site.to_the_end(partial(site.remove, worktree, touchdown.keeps_branch))

    async def _carry_inside(
        self, order: StartAttempt, worktree: Worktree, directory: str, run: RunInner, touchdown: Touchdown
    ) -> Ending:
        """Do the work in the worktree that is there now, and bring it where it belongs."""
        check = partial(_check, order, run)
        approved = order.guidance.approved if order.guidance is not None else ""
        if approved:
            return await touchdown.land_approved(approved, check)
        watch = asyncio.create_task(watch_claims(self._site, worktree, order.task, Path(directory)))
        try:
            ending = await run(order)
        finally:
            watch.cancel()
        ending = await with_artefacts(ending, order.task, worktree.workspace, Path(directory), self._site.store)
        try:
            if ending.asks is not None:
                return await touchdown.keep(ending)
            if ending.kind is not EndingKind.DONE:
                return await touchdown.leave_unfinished(ending)
            return await (touchdown.hold(ending) if self._waits(order.task) else touchdown.land(ending, check))
        except ManyhandsError as error:
            return _failed_by(error, ending)

    def _waits(self, task: Task) -> bool:
        config = self._site.config
        return task.approve or self._approve or config.approve or matches(task.kind, config.approve_kinds)

    def _place(self, repository: Repository, order: StartAttempt, directory: str) -> Worktree:
        """Where the attempt works: from the tip of the target, or from what an earlier attempt has done."""
        store, guidance = self._site.store, order.guidance
        worktree = worktree_for(repository, store, order.run, order.task.id, order.number)
        if guidance is None:
            return worktree
        if guidance.approved:
            return continued(worktree, guidance.approved)
        if guidance.continues:
            worktree = continued(worktree, guidance.continues)
        places = [record.place for _, record in earlier_records(directory, order.number) if record.place]
        return at_place(worktree, store, places[-1]) if places else worktree

    def _inside(self, task: Task, worktree: Worktree) -> Task:
        # The worktree is inside the project. Without its own .git, git would find the project's.
        env = {CEILING: str(worktree.path.parent), **(task.env or {})}
        return replace(task, workspace=str(worktree.workspace / self._cwd), env=env)


async def _check(order: StartAttempt, run: RunInner, argv: Sequence[str]) -> Ending:
    return await run(replace(order, task=replace(order.task, run=tuple(argv), check=(), save="", keep=())))


def _failed_by(error: ManyhandsError, ending: Ending = DONE) -> Ending:
    """The failed ending. It keeps what the attempt used until then, because that was paid for."""
    detail = f"{error.message}; {error.hint}" if error.hint else error.message
    return replace(ending, kind=EndingKind.FAILED, detail=detail, permanent=isinstance(error, UsageError))
