"""Brings one attempt's work from its worktree to the target: commit, wait for the turn, merge, check, publish."""

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import assert_never

from msgspec.structs import replace

from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import DONE, Ending, EndingKind
from manyhands.core.values.question import Question, QuestionKind
from manyhands.errors import ManyhandsError
from manyhands.hosts.landing.change_size import change_in_words, changed_lines
from manyhands.hosts.landing.claim_check import Touched, is_claimed, touched_by
from manyhands.hosts.landing.commits import commit, message_of, name_of, snapshot, tree_of
from manyhands.hosts.landing.landing_record import LandingRecord, earlier_records
from manyhands.hosts.landing.landing_site import LandingSite
from manyhands.hosts.landing.merging import Merged, merge
from manyhands.hosts.landing.publishing import Blocked, Moved, publish
from manyhands.hosts.landing.pull_requests import propose
from manyhands.hosts.landing.repository import Repository, listed
from manyhands.hosts.landing.worktree import Worktree

#: A person would not move the target this often while we merge.
_TURNS_MAX = 50

#: Runs a command as a step of the attempt, in its worktree.
Step = Callable[[Sequence[str]], Awaitable[Ending]]


class Touchdown:
    def __init__(
        self, site: LandingSite, order: StartAttempt, directory: str, worktree: Worktree, record: LandingRecord
    ) -> None:
        self.keeps_branch = False  # the branch has work that exists nowhere else
        self._site = site
        self._order = order
        self._directory = directory
        self._worktree = worktree
        self._record = record
        self._message = ""

    async def land(self, ending: Ending, step: Step) -> Ending:
        """Land the work of an attempt whose command and check have passed; return the attempt's ending."""
        return await self._take(ending) or await self._bring(ending, step)

    async def hold(self, ending: Ending) -> Ending:
        """Leave the work on its branch until a person has approved it."""
        self._record.waits = True
        unfit = await self._take(ending)
        if unfit is not None:
            return unfit
        text = await self._site.in_thread(self._in_numbers)
        return replace(ending, asks=Question(QuestionKind.APPROVAL, text, commit=self._record.commit))

    async def keep(self, ending: Ending) -> Ending:
        """Leave unfinished work on its branch: the attempt asks something, and the next one continues from here."""
        if ending.asks is None or await self._take(ending) is not None:
            return ending
        return replace(ending, asks=replace(ending.asks, commit=self._record.commit))

    async def leave_unfinished(self, ending: Ending) -> Ending:
        """Keep what a failed attempt did as a commit without a branch: it can be read until git clears it away."""
        match ending.kind:
            case EndingKind.FAILED | EndingKind.TIMED_OUT:
                with contextlib.suppress(ManyhandsError, OSError):  # it is for people to read, and decides nothing
                    await self._site.in_thread(self._commit_work)
                self.keeps_branch = False
            case (
                EndingKind.DONE | EndingKind.OVERLOADED | EndingKind.CANCELLED | EndingKind.PREEMPTED | EndingKind.LOST
            ):
                pass
            case kind:
                assert_never(kind)
        return ending

    async def land_approved(self, commit: str, step: Step) -> Ending:
        await self._site.in_thread(self._adopt, commit)
        return await self._bring(DONE, step)

    async def _take(self, ending: Ending) -> Ending | None:
        """Commit the work; the ending if there is nothing that could land."""
        touched = await self._site.in_thread(self._commit_work)
        if touched is None:
            return _with(ending, "it changed nothing")
        if touched.strays:
            return _failed(ending, f"it made another git repository in {listed(touched.strays)}; delete its .git")
        return None

    async def _bring(self, ending: Ending, step: Step) -> Ending:
        await self._stay_out_if_unwanted()
        if self._site.config.pull_request:
            return await self._propose(ending)
        queue = self._site.queue
        async with queue.turn(self._order.attempt, self._worktree.repository.common) as lock:
            repository = replace(self._worktree.repository, git=self._worktree.repository.git.holding(lock))
            for _ in range(_TURNS_MAX):
                landed = await self._try(repository, ending, step)
                if landed is not None:
                    return landed
        return self._kept(ending, f"`{self._worktree.repository.target}` moved too often while this work was merged")

    async def _propose(self, ending: Ending) -> Ending:
        """Hand the work to people on GitHub instead of landing it."""
        worktree = self._worktree
        target = worktree.repository.target
        proposing = partial(propose, worktree.git, self._record.commit, worktree.branch, target, self._message)
        try:
            url, _ = await self._site.to_the_end(partial(proposing, os.environ))
        except ManyhandsError as error:
            return self._kept(ending, error.message)
        self.keeps_branch = False  # the remote has it
        self._record.proposed = url
        self._record.save(self._directory)
        return _with(ending, f"pull request {url}")

    def _in_numbers(self) -> str:
        """What waits, in one line."""
        git, record = self._worktree.git, self._record
        return change_in_words(changed_lines(git, self._worktree.base, record.commit), record.undeclared)

    def _adopt(self, commit: str) -> None:
        """Take the work of an earlier attempt, as it is."""
        git, base = self._worktree.git, self._worktree.base
        touched = touched_by(git, base, commit, self._order.task, self._worktree.repository.prefix)
        self._message = git.line("log", "-1", "--format=%B", commit, "--")
        self._record.commit = commit
        self._record.touched, self._record.undeclared = touched.paths, touched.undeclared
        git("update-ref", "-m", f"manyhands: {name_of(self._order)}", self._worktree.ref, commit)
        self.keeps_branch = True
        self._record.save(self._directory)

    def _commit_work(self) -> Touched | None:
        """Commit the work to the attempt's branch; None if there is none."""
        git, base, task = self._worktree.git, self._worktree.base, self._order.task
        tree, subjects = snapshot(git, base)
        if tree == tree_of(git, base):
            return None
        touched = touched_by(git, base, tree, task, self._worktree.repository.prefix)
        self._message = message_of(self._order, subjects)
        self._record.commit = commit(git, tree, base, self._message)
        self._record.touched, self._record.undeclared = touched.paths, touched.undeclared
        git("update-ref", "-m", f"manyhands: {name_of(self._order)}", self._worktree.ref, self._record.commit)
        self.keeps_branch = not touched.strays
        self._record.save(self._directory)
        return touched

    async def _stay_out_if_unwanted(self) -> None:
        facts = await self._site.facts
        why = facts.why_not(self._order.run, self._order.attempt)
        if why:
            facts.cancel(self._order.run, self._order.task.id, why)
            await asyncio.Event().wait()  # wait for the stop that the cancel causes

    async def _try(self, repository: Repository, ending: Ending, step: Step) -> Ending | None:
        """One try from merge to publication; None if the target moved meanwhile."""
        await self._stay_out_if_unwanted()
        in_thread, config, base = self._site.in_thread, self._site.config, self._worktree.base
        tip = await in_thread(repository.tip)
        merged = await in_thread(self._merge, tip)
        if merged.conflicts:
            self._record.conflicts = merged.conflicts
            final = config.strategy == "fail-on-conflict"
            return self._kept(ending, f"conflict in {listed(merged.conflicts)} with what landed meanwhile", final)
        if merged.tree == await in_thread(tree_of, repository.git, tip):
            self.keeps_branch = False
            return _with(ending, f"`{repository.target}` already has its changes")
        new = self._record.commit if tip == base else await in_thread(self._commit, merged.tree, tip)
        if tip != base and config.check and self._order.task.check:
            await in_thread(self._show, new)
            verdict = await step(self._order.task.check)
            if verdict.kind is not EndingKind.DONE:
                said = f"check failed on top of what landed meanwhile ({verdict.detail})"
                failed = self._kept(ending, said)
                return replace(failed, kind=verdict.kind, exit_code=verdict.exit_code, tail=verdict.tail)
        # This must not be interrupted: its result says what has happened to the target.
        outcome, _ = await self._site.to_the_end(
            partial(publish, repository, tip, new, config.dirty, name_of(self._order))
        )
        if isinstance(outcome, Moved):
            return None
        if isinstance(outcome, Blocked):
            return self._kept(ending, _in_the_way(outcome))
        self.keeps_branch = False
        self._record.landed = new
        await self._site.to_the_end(self._tidy)
        return _with(ending, self._told(new, repository.target, outcome.remark))

    def _tidy(self) -> None:
        """Delete branches of earlier attempts that are kept for no recorded reason: their work has been done again."""
        with contextlib.suppress(ManyhandsError, OSError):  # the work has landed, so a failure here does not matter
            self._record.save(self._directory)
            for _, earlier in earlier_records(self._directory, self._order.number):
                if not earlier.kept:
                    self._worktree.repository.git("update-ref", "-d", f"refs/heads/{earlier.branch}")

    def _merge(self, tip: str) -> Merged:
        prefix, claims = self._worktree.repository.prefix, self._order.task.claims
        appends = claims.append if claims is not None else ()
        return merge(
            self._worktree.git,
            self._site.config.strategy,
            self._worktree.base,
            tip,
            self._record.commit,
            lambda path: is_claimed(path, appends, prefix),
        )

    def _commit(self, tree: str, tip: str) -> str:
        return commit(self._worktree.git, tree, tip, self._message)

    def _show(self, new: str) -> None:
        """Bring the worktree to the state that would be published."""
        self._worktree.git("checkout", "--quiet", "--force", "--detach", new, "--")

    def _kept(self, ending: Ending, why: str, final: bool = False) -> Ending:
        self._record.kept = why
        self._record.save(self._directory)
        return _failed(ending, f"{why}; its work is on branch {self._worktree.branch}", final)

    def _told(self, new: str, target: str, remark: str) -> str:
        count, undeclared = len(self._record.touched), self._record.undeclared
        told = f"landed as {new[:10]} on {target}: {count} {'file' if count == 1 else 'files'}"
        if undeclared:
            told += f"; outside its claims: {listed(undeclared)}"
        return f"{told}; {remark}" if remark else told


def _in_the_way(blocked: Blocked) -> str:
    place: Path = blocked.place
    if blocked.paths:
        return f"{listed(blocked.paths)} in {place} would be overwritten; commit, stash or move what is there"
    return f"{place} cannot be brought up to date: {blocked.said}"


def _with(ending: Ending, detail: str) -> Ending:
    return replace(ending, detail=f"{ending.detail}; {detail}" if ending.detail else detail)


def _failed(ending: Ending, detail: str, final: bool = False) -> Ending:
    return replace(ending, kind=EndingKind.FAILED, detail=detail, permanent=final)
