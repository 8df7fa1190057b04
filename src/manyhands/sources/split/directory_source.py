"""A directory as the source of a split: its files, their imports and their history."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from manyhands.errors import UsageError
from manyhands.quantities import quantity
from manyhands.sources.split.history import read_history
from manyhands.sources.split.imports.import_ties import FilesOnDisk, read_imports
from manyhands.sources.split.split_types import Source, make_source
from manyhands.sources.split.splitter import FileReader
from manyhands.sources.split.tie_weights import COMMIT_FILES_MAX
from manyhands.sources.split.walking import find_files


class CodeBase(NamedTuple):
    source: Source
    read: FileReader
    notes: tuple[str, ...]


def read_directory(
    root: Path,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    gitignore: bool = True,
    told: Callable[[str], None] = lambda line: None,
) -> CodeBase:
    """Read the source. `told` receives progress messages, because a large code base takes long."""
    found = find_files(root, include, exclude, gitignore)
    left_out = ", ".join(f"{count:,} {why}" for why, count in sorted(found.left_out.items()))
    if not found.size_of:
        hint = f"left out: {left_out}" if left_out else "choose files with --include and --exclude"
        raise UsageError(f"`{root}` has no files to split", hint)
    files = FilesOnDisk(root, found.size_of)
    told(f"{quantity(len(found.size_of), 'file')} found; reading their imports")
    imports, notes = read_imports(files)
    told(f"{len(imports):,} imports found; reading the history")
    history = read_history(root)
    told(f"{quantity(len(history.commits), 'commit')} of 2 to {COMMIT_FILES_MAX} files found; splitting")
    if left_out:
        notes.insert(0, f"left out: {left_out}")
    if history.missing:
        notes.append(f"no history to learn from: {history.missing}")
    return CodeBase(make_source(found.size_of.items(), imports, history.commits), files.read, tuple(notes))
