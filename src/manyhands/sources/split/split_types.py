"""The types of a split: the input (files and their ties) and the output (the tree of subplans)."""

import hashlib
from collections.abc import Iterable, Iterator

from msgspec import Struct

#: No tokenizer is available everywhere and for every model. A quarter of the bytes is close enough for a budget.
BYTES_PER_TOKEN = 4


def tokens_of(size_bytes: int) -> int:
    return -(-size_bytes // BYTES_PER_TOKEN)


class SplitSettings(Struct, frozen=True, omit_defaults=False):
    budget_tokens: int = 40_000  # the most that a leaf may have
    max_depth: int = 8  # the root is at depth 0
    min_files: int = 1  # a leaf has at least this many files, where they fit into the budget
    max_files: int | None = None  # a leaf has at most this many files


class Source(Struct, frozen=True):
    """A code base as the split sees it. Files are in the order of their paths; ties name them by position."""

    paths: tuple[str, ...]  # relative to the root, with forward slashes
    sizes: tuple[int, ...]  # bytes
    imports: tuple[tuple[int, int, float], ...] = ()  # importer, imported, share of one import
    commits: tuple[tuple[int, ...], ...] = ()  # files that changed together

    @property
    def tokens(self) -> list[int]:
        return [tokens_of(size) for size in self.sizes]


def make_source(
    sizes: Iterable[tuple[str, int]],
    imports: Iterable[tuple[str, str, float]] = (),
    commits: Iterable[Iterable[str]] = (),
) -> Source:
    """A source in canonical order, so that the order in which things were found can never matter."""
    size_of = dict(sizes)
    paths = tuple(sorted(size_of))
    place = {path: i for i, path in enumerate(paths)}
    share_of: dict[tuple[int, int], float] = {}
    for importer, imported, share in imports:
        if importer in place and imported in place and importer != imported:
            tie = place[importer], place[imported]
            share_of[tie] = max(share, share_of.get(tie, 0.0))
    known = (tuple(sorted({place[path] for path in commit if path in place})) for commit in commits)
    return Source(
        paths=paths,
        sizes=tuple(size_of[path] for path in paths),
        imports=tuple((*tie, share) for tie, share in sorted(share_of.items())),
        commits=tuple(sorted(commit for commit in known if len(commit) > 1)),
    )


class Range(Struct, frozen=True, order=True):
    """Part of a file, in lines from 1; both ends belong to it."""

    file: str
    first_line: int
    last_line: int


class Subplan(Struct, frozen=True, kw_only=True):
    """A subplan. A leaf has `files`; all others have `children`."""

    id: str
    name: str  # for people: where most of it is
    parent: str | None
    children: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    ranges: tuple[Range, ...] = ()  # if only part of the file belongs to the leaf
    tokens: int
    depth: int
    strategy: str = ""  # the strategy that found its children
    reason: str = ""  # why it was split, or why it was not
    cut: float = 0.0  # share of the weight of its ties that run between its children

    @property
    def is_leaf(self) -> bool:
        return not self.children


class Tree(Struct, frozen=True, kw_only=True):
    """`nodes` has every parent before its children, and children in their parent's order."""

    root: str
    settings: SplitSettings
    nodes: tuple[Subplan, ...]
    notes: tuple[str, ...] = ()  # what was left out or could not be read, for people

    def leaves(self) -> Iterator[Subplan]:
        return (node for node in self.nodes if node.is_leaf)

    def by_id(self) -> dict[str, Subplan]:
        return {node.id: node for node in self.nodes}


def node_id(files: Iterable[str], ranges: Iterable[Range] = ()) -> str:
    """The same files always make the same id, on every machine."""
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(file.encode() + b"\0")
    for part in sorted(ranges):
        digest.update(f"{part.file}\0{part.first_line}-{part.last_line}\0".encode())
    return "s" + digest.hexdigest()[:12]
