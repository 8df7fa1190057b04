"""The input and output of a reader of imports."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol


class Import(NamedTuple):
    importer: str
    imported: str
    share: float = 1.0  # of one import: the files of a package share an import of it


class Files(Protocol):
    """The files of a code base: their paths, and their content if it can be read."""

    @property
    def paths(self) -> frozenset[str]: ...

    @property
    def package(self) -> str:
        """The Python package that the root itself is, as a path like `shop/orders`; "" if it is none."""
        ...

    def read(self, path: str) -> bytes | None: ...


def shared(importer: str, imported: Iterable[str]) -> Iterator[Import]:
    """The ties of one import that names several files at once."""
    targets = sorted(set(imported) - {importer})
    for target in targets:
        yield Import(importer, target, 1 / len(targets))


def folder_of(path: str) -> str:
    """The folder with its slash; "" at the root."""
    return path[: path.rfind("/") + 1]
