"""What a reader of imports is given and gives."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol


class Import(NamedTuple):
    importer: str
    imported: str
    share: float = 1.0  # of one import: a package import is shared by its files


class Files(Protocol):
    """The files of a code base: their paths, and what they hold where it can be read."""

    @property
    def paths(self) -> frozenset[str]: ...

    def read(self, path: str) -> bytes | None: ...


def shared(importer: str, imported: Iterable[str]) -> Iterator[Import]:
    """One import that names several files at once."""
    targets = sorted(set(imported) - {importer})
    for target in targets:
        yield Import(importer, target, 1 / len(targets))


def folder_of(path: str) -> str:
    """With its slash; empty at the root."""
    return path[: path.rfind("/") + 1]
