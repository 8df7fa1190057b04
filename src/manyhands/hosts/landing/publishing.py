"""Moves the target to a commit: the branch, together with the working tree that has it checked out.

A person's changes there are never overwritten: git refuses, or they are stashed if the config says so.
"""

import re
from pathlib import Path

from msgspec import Struct

from manyhands.hosts.landing.git import Git, GitFailed
from manyhands.hosts.landing.repository import Repository, changed_files
from manyhands.sources.config.landing_config import Dirty

#: Where changes are kept while the target moves.
_ASIDE = "refs/manyhands/aside"
#: Git names the files that are in its way on separate lines, after a tab.
_IN_THE_WAY = re.compile(r"^\t(.+)$", re.MULTILINE)


class Published(Struct, frozen=True):
    remark: str = ""


class Moved(Struct, frozen=True):
    """Another process moved the target meanwhile: merge again."""


class Blocked(Struct, frozen=True):
    """A person's files are in the way."""

    place: Path
    paths: list[str]
    said: str


def publish(repository: Repository, tip: str, new: str, dirty: Dirty, name: str) -> Published | Moved | Blocked:
    """Move the target from `tip` to its descendant `new`, completely or not at all."""
    place = repository.checked_out_at()
    if place is None:
        try:
            repository.git("update-ref", "-m", f"manyhands: {name}", repository.ref, new, tip)
        except GitFailed:
            if repository.tip() == tip:
                raise
            return Moved()
        return Published()
    git = repository.git.at(place)
    outcome = _forward(repository, git, place, tip, new)
    if dirty == "stash" and isinstance(outcome, Blocked) and {*outcome.paths} & {*changed_files(git)}:
        return _forward_past_changes(repository, git, place, tip, new, name)
    return outcome


def _forward(repository: Repository, git: Git, place: Path, tip: str, new: str) -> Published | Moved | Blocked:
    if repository.tip() != tip:
        return Moved()
    try:
        git("merge", "--ff-only", "--no-autostash", "--no-verify-signatures", "--no-stat", "--quiet", new)
    except GitFailed as error:
        if repository.tip() != tip:
            return Moved()
        return Blocked(place, _IN_THE_WAY.findall(error.stderr), " ".join(error.stderr.split())[:200])
    return Published()


def _forward_past_changes(
    repository: Repository, git: Git, place: Path, tip: str, new: str, name: str
) -> Published | Moved | Blocked:
    # Kept under a separate name meanwhile, because attempts can change the stash itself.
    changes = git.line("stash", "create", f"manyhands: before {name} landed")
    git("update-ref", f"{_ASIDE}/{changes}", changes)
    git("read-tree", "--reset", "-u", "HEAD")
    outcome: Published | Moved | Blocked = _forward(repository, git, place, tip, new)
    for how in (("--index",), ()):  # staged changes are staged again, if possible
        if git.ask("stash", "apply", "--quiet", *how, changes) is not None:
            git("update-ref", "-d", f"{_ASIDE}/{changes}")
            return outcome
        git("read-tree", "--reset", "-u", "HEAD")  # undo what was half applied
    to_stash(git)
    if isinstance(outcome, Published):
        return Published(f"the changes in {place} no longer apply: they are in `git stash`")
    return outcome


def to_stash(git: Git) -> bool:
    """Move changes that could not be restored, now or before a crash, to `git stash`, where a person finds them."""
    kept = git.line("for-each-ref", "--format=%(objectname)", _ASIDE).split()
    for changes in kept:
        # This does what `git stash store` does, which needs a working tree.
        message = git.line("log", "-1", "--format=%s", changes)
        git("update-ref", "--create-reflog", "-m", message, "refs/stash", changes)
        git("update-ref", "-d", f"{_ASIDE}/{changes}")
    return bool(kept)
