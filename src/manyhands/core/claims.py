"""Which claims exclude each other, and who holds what right now.

A claim is a path (literal), a directory prefix (`src/auth/` or `src/auth/**`), a glob, or a named resource
(`db:main`, compared as it is). Where two globs might meet, they do: the error is always on the safe side.
"""

from collections.abc import Iterator
from functools import lru_cache

from manyhands.core.model import Claims

WRITE, APPEND, READ = "write", "append", "read"
#: Modes that may be held at the same time on one path.
_SHARED = frozenset({(READ, READ), (APPEND, APPEND)})
_WILD = frozenset("*?[")


@lru_cache(maxsize=65536)
def _segments(pattern: str) -> tuple[str, ...]:
    """A path that ends in a name holds what is below it too: it may be a directory, and a file has nothing below.

    So `src/auth`, `src/auth/` and `src/auth/**` are the same claim.
    """
    parts = tuple(part for part in pattern.split("/") if part and part != ".")
    if parts and (pattern.endswith("/") or not _is_wild(parts[-1])):
        return (*parts, "**")
    return parts or ("**",)


def _is_wild(segment: str) -> bool:
    return not _WILD.isdisjoint(segment)


def overlap(a: str, b: str) -> bool:
    """Could one path match both patterns?"""
    return a == b or _paths_meet(_segments(a), _segments(b))


@lru_cache(maxsize=65536)
def _paths_meet(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    if not a or not b:
        # A directory claim holds the directory itself too: `src/**` meets `src`.
        return all(part == "**" for part in a or b)
    if a[0] == "**":
        return _paths_meet(a[1:], b) or _paths_meet(a, b[1:])
    if b[0] == "**":
        return _paths_meet(a, b[1:]) or _paths_meet(a[1:], b)
    return _names_meet(a[0], b[0]) and _paths_meet(a[1:], b[1:])


def _names_meet(a: str, b: str) -> bool:
    """Could one file name match both? Character classes count as any one character."""
    if not _is_wild(a) and not _is_wild(b):
        return a == b
    return _tokens_meet(_tokens(a), _tokens(b))


def _tokens(name: str) -> tuple[str, ...]:
    tokens: list[str] = []
    i = 0
    while i < len(name):
        end = name.find("]", i + 2) if name[i] == "[" else -1
        if end > 0:
            tokens.append("?")
            i = end + 1
        else:
            tokens.append(name[i])
            i += 1
    return tuple(tokens)


@lru_cache(maxsize=65536)
def _tokens_meet(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    if not a or not b:
        return all(token == "*" for token in a or b)
    if a[0] == "*":
        return _tokens_meet(a[1:], b) or _tokens_meet(a, b[1:])
    if b[0] == "*":
        return _tokens_meet(b, a)
    return (a[0] == b[0] or "?" in (a[0], b[0])) and _tokens_meet(a[1:], b[1:])


def each_claim(claims: Claims) -> Iterator[tuple[str, str]]:
    for pattern in claims.write:
        yield WRITE, pattern
    for pattern in claims.append:
        yield APPEND, pattern
    for pattern in claims.read:
        yield READ, pattern


def conflict(a: Claims, b: Claims) -> bool:
    """May holders of these two never overlap in time?"""
    return any(
        (mode_a, mode_b) not in _SHARED and overlap(pattern_a, pattern_b)
        for mode_a, pattern_a in each_claim(a)
        for mode_b, pattern_b in each_claim(b)
    )


class _Node:
    """One directory level. Wild claims sit at the last level that is literal, as (mode, rest) of the path."""

    __slots__ = ("below", "here")

    def __init__(self) -> None:
        self.below: dict[str, _Node] = {}
        self.here: dict[tuple[str, tuple[str, ...], int], int] = {}  # (mode, wild rest, holder) → how often


class Holdings:
    """Claims held by numbered holders, kept so that finding a conflict costs the depth of a path.

    Iterates dictionaries in the order of insertion only: the answer depends on nothing else.
    """

    def __init__(self) -> None:
        self._root = _Node()
        self._claims_of: dict[int, Claims] = {}

    def __contains__(self, holder: int) -> bool:
        return holder in self._claims_of

    def holders(self) -> list[int]:
        return list(self._claims_of)

    def take(self, holder: int, claims: Claims) -> None:
        if not (claims.write or claims.append or claims.read):
            return
        self._claims_of[holder] = claims
        for mode, pattern in each_claim(claims):
            node, rest = self._root, _segments(pattern)
            while rest and not _is_wild(rest[0]):
                node = node.below.setdefault(rest[0], _Node())
                rest = rest[1:]
            key = (mode, rest, holder)
            node.here[key] = node.here.get(key, 0) + 1

    def release(self, holder: int) -> None:
        claims = self._claims_of.pop(holder, None)
        if claims is None:
            return
        for mode, pattern in each_claim(claims):
            self._remove(mode, _segments(pattern), holder)

    def _remove(self, mode: str, segments: tuple[str, ...], holder: int) -> None:
        path: list[tuple[_Node, str]] = []
        node, rest = self._root, segments
        while rest and not _is_wild(rest[0]):
            path.append((node, rest[0]))
            node = node.below[rest[0]]
            rest = rest[1:]
        key = (mode, rest, holder)
        if node.here[key] == 1:
            del node.here[key]
        else:
            node.here[key] -= 1
        while path and not node.here and not node.below:
            parent, name = path.pop()
            del parent.below[name]
            node = parent

    def first_conflict(self, claims: Claims) -> int | None:
        """The holder that keeps these claims from being taken, if there is one."""
        if not self._claims_of:
            return None
        return next(self.conflicts(claims), None)

    def conflicts(self, claims: Claims) -> Iterator[int]:
        for mode, pattern in each_claim(claims):
            yield from self._meeting(mode, _segments(pattern))

    def _meeting(self, mode: str, segments: tuple[str, ...]) -> Iterator[int]:
        node: _Node | None = self._root
        rest = segments
        while node is not None:
            at_end = not rest or _is_wild(rest[0])
            for held_mode, held_rest, holder in node.here:
                if (mode, held_mode) not in _SHARED and _paths_meet(rest, held_rest):
                    yield holder
            if at_end:
                if rest:
                    yield from self._below(mode, rest, node)
                return
            node = node.below.get(rest[0])
            rest = rest[1:]

    def _below(self, mode: str, wild: tuple[str, ...], node: _Node) -> Iterator[int]:
        """Held claims deeper than where `wild` stops being literal. As many as are held, so few."""
        stack: list[tuple[_Node, tuple[str, ...]]] = [(child, (name,)) for name, child in reversed(node.below.items())]
        while stack:
            current, path = stack.pop()
            for held_mode, held_rest, holder in current.here:
                if (mode, held_mode) not in _SHARED and _paths_meet(wild, path + held_rest):
                    yield holder
            stack.extend((child, (*path, name)) for name, child in reversed(current.below.items()))
