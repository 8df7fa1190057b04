"""Merges a commit into a target that has moved: the result is a tree, or the files that are in conflict.

The base of every merge is the state that the attempt started from. Nothing here changes a branch or a working tree.
"""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from manyhands.hosts.landing.commits import commit, tree_of
from manyhands.hosts.landing.git import Git, GitFailed
from manyhands.sources.config.landing_config import Strategy

_FILE_MODES = ("100644", "100755")


class Merged(Struct, frozen=True):
    tree: str
    conflicts: list[str] = []  # not empty: there is nothing to land


class _Stages(Struct):
    """One path in conflict: (mode, blob) at the base, on the target and in the attempt's work, if it exists there."""

    base: tuple[str, str] | None = None
    target: tuple[str, str] | None = None
    work: tuple[str, str] | None = None


def merge(git: Git, strategy: Strategy, base: str, tip: str, work: str, appends: Callable[[str], bool]) -> Merged:
    """`work` is a commit on `base`; `tip` is where the target is now. `appends` says which paths to merge by union."""
    if tip == base:
        return Merged(tree_of(git, work))
    if strategy == "fail-on-conflict":
        both = sorted({*_changed(git, base, tip)} & {*_changed(git, base, work)})
        if both := [path for path in both if not appends(path)]:
            return Merged("", both)
    # The target as a child of the base: whatever its history is, the merge uses this base and no other.
    theirs = commit(git, tree_of(git, tip), base, "target\n")
    printed = git("merge-tree", "--write-tree", "-z", "--no-messages", theirs, work, codes=(0, 1))
    tree, *entries = (os.fsdecode(entry) for entry in printed.split(b"\0"))
    stages = _stages(entries)
    resolved: dict[str, tuple[str, str] | None] = {}
    conflicts: list[str] = []
    for path, stage in stages.items():
        union = _merged_file(git, stage, "--union") if appends(path) else None
        if union is not None:
            resolved[path] = union
        elif strategy == "last-wins" and _is_there(git, path, theirs, work):
            resolved[path] = _merged_file(git, stage, "--theirs") or stage.work
        else:
            conflicts.append(path)
    if conflicts:
        return Merged("", sorted(conflicts))
    return Merged(_with(git, tree, resolved) if resolved else tree)


def _changed(git: Git, base: str, other: str) -> list[str]:
    return git.names("diff-tree", "-r", "-z", "--no-renames", "--name-only", "--end-of-options", base, other, "--")


def _stages(entries: list[str]) -> dict[str, _Stages]:
    found: dict[str, _Stages] = {}
    for entry in filter(None, entries):
        about, _, path = entry.partition("\t")
        mode, blob, number = about.split(" ")
        setattr(found.setdefault(path, _Stages()), ("base", "target", "work")[int(number) - 1], (mode, blob))
    return found


def _is_there(git: Git, path: str, theirs: str, work: str) -> bool:
    """Whether either side has this path. Git renames a file if a directory has its name: then neither side can win."""
    return any(git.ask("rev-parse", "--verify", "--quiet", f"{one}:{path}") is not None for one in (theirs, work))


def _merged_file(git: Git, stage: _Stages, how: str) -> tuple[str, str] | None:
    """Merge the file line by line; None if that is impossible: a side is missing, is a link, or is not text."""
    if stage.target is None or stage.work is None:
        return None
    if any(each is not None and each[0] not in _FILE_MODES for each in (stage.base, stage.target, stage.work)):
        return None
    with tempfile.TemporaryDirectory(prefix="manyhands-merge-") as directory:
        files = [Path(directory, name) for name in ("target", "base", "work")]
        for file, blob in zip(files, (stage.target, stage.base, stage.work), strict=True):
            file.write_bytes(b"" if blob is None else git("cat-file", "blob", blob[1]))
        try:
            merged = git("merge-file", "-p", "-q", how, *map(str, files))
        except GitFailed:
            return None
    return stage.work[0], git.line("hash-object", "-w", "--no-filters", "--stdin", given=merged)


def _with(git: Git, tree: str, resolved: dict[str, tuple[str, str] | None]) -> str:
    """The tree with these paths as they were resolved; None means deleted."""
    gone = ("0", "0" * len(tree))
    lines = [(path, found or gone) for path, found in resolved.items()]
    given = b"".join(os.fsencode(f"{mode} {blob}\t{path}") + b"\0" for path, (mode, blob) in lines)
    with tempfile.TemporaryDirectory(prefix="manyhands-merge-") as directory:
        index = Path(directory, "index")
        git("read-tree", tree, index=index)
        git("update-index", "-z", "--index-info", given=given, index=index)
        return git.line("write-tree", index=index)
