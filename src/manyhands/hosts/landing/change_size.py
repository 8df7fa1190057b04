"""How large a change is: its files, and how many lines of each came and went."""

from collections.abc import Sequence

from msgspec import Struct

from manyhands.hosts.landing.git import Git
from manyhands.hosts.landing.repository import listed


class ChangedFile(Struct, frozen=True):
    path: str
    added: int | None  # lines; None: the file is not text
    removed: int | None


def changed_lines(git: Git, base: str, commit: str) -> list[ChangedFile]:
    found: list[ChangedFile] = []
    for entry in git.names(
        "diff-tree", "-r", "-z", "--no-renames", "--numstat", "--end-of-options", base, commit, "--"
    ):
        added, removed, path = entry.split("\t", 2)
        found.append(ChangedFile(path, _count(added), _count(removed)))
    return found


def _count(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


def change_in_words(files: Sequence[ChangedFile], undeclared: Sequence[str] = ()) -> str:
    """`2 files, +10 −3`, and what no claim covers."""
    added, removed = sum(one.added or 0 for one in files), sum(one.removed or 0 for one in files)
    told = f"{len(files):,} {'file' if len(files) == 1 else 'files'}, +{added:,} −{removed:,}"
    return f"{told}; outside its claims: {listed(list(undeclared))}" if undeclared else told
