"""Moves the target to a commit: the branch, and together with it the working tree that shows it.

A person's changes there are never overwritten: git refuses, or they go to the stash if the config says so.
"""

import re
from pathlib import Path

from msgspec import Struct

from manyhands.hosts.landing.git import Git, GitFailed
from manyhands.hosts.landing.repository import Repository, changed_files
from manyhands.sources.config.config_types import Dirty

#: Where changes are while the target moves below them.
_ASIDE = "refs/manyhands/aside"
#: Git names the files in its way on lines of their own, after a tab.
_IN_THE_WAY = re.compile(r"^\t(.+)$", re.MULTILINE)


class Published(Struct, frozen=True):
    remark: str = ""


class Moved(Struct, frozen=True):
    """Someone else moved the target meanwhile: merge again."""


class Blocked(Struct, frozen=True):
    """A person's files are in the way."""

    place: Path
    paths: list[str]
    said: str


def publish(repository: Repository, tip: str, new: str, dirty: Dirty, name: str) -> Published | Moved | Blocked:
    """From `tip` to its descendant `new`, whole or not at all."""
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
    # Under a name of its own meanwhile: the stash itself is shared with whatever attempts do to it.
    changes = git.line("stash", "create", f"manyhands: before {name} landed")
    git("update-ref", f"{_ASIDE}/{changes}", changes)
    git("read-tree", "--reset", "-u", "HEAD")
    outcome: Published | Moved | Blocked = _forward(repository, git, place, tip, new)
    for how in (("--index",), ()):  # what was staged is staged again, if it can be
        if git.ask("stash", "apply", "--quiet", *how, changes) is not None:
            git("update-ref", "-d", f"{_ASIDE}/{changes}")
            return outcome
        git("read-tree", "--reset", "-u", "HEAD")  # what was half applied
    to_stash(git)
    if isinstance(outcome, Published):
        return Published(f"changes in {place} did not fit on top: they are in `git stash`")
    return outcome


def to_stash(git: Git) -> bool:
    """Changes that could not be brought back, now or before a crash, go where a person looks for them."""
    kept = git.line("for-each-ref", "--format=%(objectname)", _ASIDE).split()
    for changes in kept:
        # As `git stash store` does, which wants a working tree.
        message = git.line("log", "-1", "--format=%s", changes)
        git("update-ref", "--create-reflog", "-m", message, "refs/stash", changes)
        git("update-ref", "-d", f"{_ASIDE}/{changes}")
    return bool(kept)
