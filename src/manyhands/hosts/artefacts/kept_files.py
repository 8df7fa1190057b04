"""Copies the files that a task promised to leave, and refuses if it left none."""

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import BinaryIO

from manyhands.core.values.ending import Artefact
from manyhands.hosts.artefacts.artefact_files import COPIES
from manyhands.hosts.artefacts.workspace_files import directory_in, open_file, replace_file

FILES_MAX = 1_000
BYTES_MAX = 4 << 30
_LOOKED_AT_MAX = 200_000
_PIECE = 1 << 20
_WILD = re.compile(r"[*?\[]")


class CannotKeep(Exception):
    """What the task promised is not there, or is too much."""


def keep_files(root: Path, patterns: Sequence[str], directory: Path, store: Path) -> list[Artefact]:
    """Copies of all files below `root` that match, in the directory of the attempt."""
    kept: dict[str, Artefact] = {}
    if patterns:
        directory.mkdir(parents=True, exist_ok=True)
    left = BYTES_MAX
    for pattern in patterns:
        before = len(kept)
        for path in _matching(root, pattern, store):
            if path in kept:
                before -= 1
                continue
            if len(kept) == FILES_MAX:
                raise CannotKeep(f"more than {FILES_MAX:,} files match its `keep`; name fewer")
            kept[path] = _copied(root, path, directory, left)
            left -= kept[path].size_bytes
        if len(kept) == before:
            raise CannotKeep(f"it left no file that matches `{pattern}`, which its `keep` names")
    return list(kept.values())


def _matching(root: Path, pattern: str, store: Path) -> Iterator[str]:
    fixed: list[str] = []
    names = pattern.split("/")
    while len(fixed) < len(names) - 1 and not _WILD.search(names[len(fixed)]):
        fixed.append(names[len(fixed)])
    own = _identity(store)
    looked_at = 0
    try:
        with directory_in(root, fixed) as top:
            for place, directories, files, here in os.fwalk(".", follow_symlinks=False, dir_fd=top):
                looked_at += len(files) + len(directories)
                if looked_at > _LOOKED_AT_MAX:
                    raise CannotKeep(f"`{pattern}` searches more than {_LOOKED_AT_MAX:,} files; name a directory")
                directories[:] = sorted(name for name in directories if name != ".git" and _of(here, name) != own)
                below = [name for name in place.split("/") if name != "."]
                for name in sorted(files):
                    if _matches((*fixed, *below, name), names):
                        yield "/".join((*fixed, *below, name))
    except FileNotFoundError:
        return


def _copied(root: Path, path: str, place: Path, bytes_max: int) -> Artefact:
    *above, name = path.split("/")
    digest, size = hashlib.sha256(), 0

    def pieces(file: BinaryIO) -> Iterator[bytes]:
        nonlocal size
        while piece := file.read(_PIECE):
            size += len(piece)
            if size > bytes_max:
                raise CannotKeep(f"its files have more than {BYTES_MAX:,} bytes; `keep` fewer of them")
            digest.update(piece)
            yield piece

    with directory_in(root, above) as directory, open_file(directory, name) as file:
        replace_file(place, f"{COPIES}/{path}", pieces(file))
    return Artefact(path, size, digest.hexdigest(), is_copy=True)


def _matches(names: Sequence[str], pattern: Sequence[str]) -> bool:
    """Exactly, unlike claims: those ask whether some file could match."""
    if not pattern:
        return not names
    if pattern[0] == "**":
        return any(_matches(names[passed:], pattern[1:]) for passed in range(len(names) + 1))
    return bool(names) and fnmatchcase(names[0], pattern[0]) and _matches(names[1:], pattern[1:])


def _identity(place: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(place)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _of(directory: int, name: str) -> tuple[int, int] | None:
    try:
        found = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except OSError:
        return None
    return found.st_dev, found.st_ino
