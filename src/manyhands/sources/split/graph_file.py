"""A prepared graph: files with bytes, import edges and learning commits as positions in the list of files.

Other content of the file, such as newer commits for judging a split, is not decoded.
"""

import gzip
import zlib
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from manyhands.errors import UsageError
from manyhands.sources.split.split_types import Source, make_source

_EXAMPLE = '{"files": [["a.py", 120], …], "imports": [[0, 1], …], "commits_train": [[0, 1], …]}'
_Position = Annotated[int, Meta(ge=0)]


class _GraphFile(Struct):
    files: list[tuple[str, Annotated[int, Meta(ge=0)]]]
    imports: list[tuple[_Position, _Position]] = []
    commits_train: list[list[_Position]] = []


def read_graph(file: Path) -> Source:
    try:
        raw = file.read_bytes()
        graph = msgspec.json.decode(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw, type=_GraphFile)
    except OSError as error:
        raise UsageError(f"graph `{file}` cannot be read: {error.strerror or error}") from None
    except (EOFError, gzip.BadGzipFile, zlib.error, ValueError, RecursionError) as error:
        raise UsageError(
            f"graph `{file}` is not a graph: {error}", f"write it as JSON, gzipped or not: {_EXAMPLE}"
        ) from None
    paths = [path for path, _ in graph.files]
    _check(file, paths, graph)
    return make_source(
        graph.files,
        ((paths[a], paths[b], 1.0) for a, b in graph.imports),
        ([paths[i] for i in commit] for commit in graph.commits_train),
    )


def _check(file: Path, paths: list[str], graph: _GraphFile) -> None:
    if not paths:
        raise UsageError(f"graph `{file}` has no files", "`files` must list at least one")
    if len(set(paths)) < len(paths):
        twice = next(path for i, path in enumerate(paths) if path in set(paths[:i]))
        raise UsageError(f"graph `{file}` has the file `{twice}` twice", "list each file once")
    for field, rows in (("imports", graph.imports), ("commits_train", graph.commits_train)):
        for row in rows:
            beyond = [i for i in row if i >= len(paths)]
            if beyond:
                rule = f"`{field}` names file {beyond[0]}, but there are {len(paths):,}"
                raise UsageError(f"graph `{file}`: {rule}", "files are counted from 0")
