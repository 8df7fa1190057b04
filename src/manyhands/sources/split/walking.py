"""Finds the files of a directory to split: text, not ignored, each once. Links are never followed."""

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from manyhands.errors import UsageError

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_NEVER = frozenset({".git", ".hg", ".svn", ".jj", ".manyhands", "node_modules", "__pycache__"})
#: As in git, a NUL among the first bytes means that the file is not text.
_SNIFF_BYTES = 8000


class FoundFiles(NamedTuple):
    size_of: dict[str, int]  # path relative to the root → bytes
    left_out: Counter[str]  # reason → number of files, for people


class _Rules(NamedTuple):
    """A .gitignore and the directory it is in, relative to the root, with its slash."""

    prefix: str
    spec: "GitIgnoreSpec"


def find_files(
    root: Path, include: Sequence[str] = (), exclude: Sequence[str] = (), gitignore: bool = True
) -> FoundFiles:
    if not root.is_dir():
        what = "is not a directory" if root.exists() else "does not exist"
        raise UsageError(f"`{root}` {what}", "name the directory of a code base, or a prepared graph with --graph")
    return _Walk(root, include, exclude, gitignore).run()


class _Walk:
    def __init__(self, root: Path, include: Sequence[str], exclude: Sequence[str], gitignore: bool) -> None:
        from pathspec import GitIgnoreSpec

        self._root, self._gitignore = root, gitignore
        for pattern in (*include, *exclude):
            if not _is_pattern(pattern):
                raise UsageError(f"`{pattern}` is not a file pattern", "write patterns as in .gitignore")
        self._include = GitIgnoreSpec.from_lines(include) if include else None
        self._exclude = GitIgnoreSpec.from_lines(exclude)
        self._found = FoundFiles({}, Counter())

    def run(self) -> FoundFiles:
        waiting: list[tuple[str, tuple[_Rules, ...]]] = [("", ())]
        while waiting:
            prefix, rules = waiting.pop()
            waiting.extend(self._directory(prefix, rules))
        return self._found

    def _directory(self, prefix: str, rules: tuple[_Rules, ...]) -> list[tuple[str, tuple[_Rules, ...]]]:
        try:
            with os.scandir(self._root / prefix) as entries:
                inside = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            self._found.left_out["unreadable directories"] += 1
            return []
        if prefix and any(entry.name == "pyvenv.cfg" for entry in inside):
            self._found.left_out["virtual environments"] += 1
            return []
        if self._gitignore and any(entry.name == ".gitignore" and entry.is_file() for entry in inside):
            rules = (*rules, self._rules(prefix))
        below = []
        for entry in inside:
            path = prefix + entry.name
            if entry.is_symlink():
                self._found.left_out["links"] += 1
            elif entry.is_dir():
                if entry.name not in _NEVER and not self._is_ignored(path + "/", rules):
                    below.append((path + "/", rules))
            elif not self._is_ignored(path, rules):
                self._file(entry, path)
        return below

    def _rules(self, prefix: str) -> _Rules:
        from pathspec import GitIgnoreSpec

        try:
            lines = (self._root / prefix / ".gitignore").read_text(errors="replace").splitlines()
        except OSError:
            self._found.left_out["unreadable .gitignore files"] += 1
            lines = []
        return _Rules(prefix, GitIgnoreSpec.from_lines(line for line in lines if _is_pattern(line)))

    def _is_ignored(self, path: str, rules: tuple[_Rules, ...]) -> bool:
        if self._exclude.match_file(path):
            return True
        # The nearest .gitignore with a matching rule decides, as in git.
        for prefix, spec in reversed(rules):
            verdict = spec.check_file(path[len(prefix) :]).include
            if verdict is not None:
                return verdict
        return False

    def _file(self, entry: os.DirEntry[str], path: str) -> None:
        left_out = self._found.left_out
        if self._include is not None and not self._include.match_file(path):
            return
        try:
            path.encode()
            size = entry.stat(follow_symlinks=False).st_size
            if not entry.is_file(follow_symlinks=False):
                left_out["pipes, sockets and devices"] += 1
                return
            with open(entry.path, "rb") as file:
                is_binary = b"\0" in file.read(_SNIFF_BYTES)
        except UnicodeEncodeError:
            left_out["files whose name is not UTF-8"] += 1
        except OSError:
            left_out["unreadable files"] += 1
        else:
            if is_binary:
                left_out["binary files"] += 1
            else:
                self._found.size_of[path] = size


def _is_pattern(line: str) -> bool:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True
