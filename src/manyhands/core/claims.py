"""Which claims exclude each other, and which attempts hold them now.

A claim is a path (literal), a directory prefix (`src/auth/` or `src/auth/**`), a glob, or a named resource
(`db:main`, compared by its name). Two globs that might match the same path count as matching: that is the safe error.
"""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from manyhands.core.values.task import Claims

WRITE, APPEND, READ = "write", "append", "read"
#: Modes that may be held at the same time on one path.
_SHARED = frozenset({(READ, READ), (APPEND, APPEND)})
_WILD = frozenset("*?[")
#: A token that stands for any one character. It has two characters, so it is never mistaken for one.
_ANY = "??"


#: `db:main`, `gpu:0`. A single letter before the colon would be a drive.
_RESOURCE = re.compile(r"[A-Za-z][A-Za-z0-9_+.-]+:")
#: Could these two parts of two sequences match the same thing?
_Meets = Callable[[str, str], bool]


@lru_cache(maxsize=65536)
def is_resource(claim: str) -> bool:
    return _RESOURCE.match(claim) is not None


@lru_cache(maxsize=65536)
def _segments(pattern: str) -> tuple[str, ...]:
    """The parts of a path. A path that ends in a name also claims what is below it: it may be a directory.

    So `src/auth`, `src/auth/` and `src/auth/**` are the same claim.
    """
    parts = tuple(part for part in pattern.split("/") if part and part != ".")
    if parts and (pattern.endswith("/") or not _is_wild(parts[-1])):
        return (*parts, "**")
    return parts or ("**",)


@lru_cache(maxsize=65536)
def places_of(pattern: str) -> tuple[str, ...]:
    """The directories a claim lies in, from the workspace down to where it stops being literal."""
    if is_resource(pattern):
        return (pattern,)
    places = [""]
    for segment in _segments(pattern):
        if _is_wild(segment):
            break
        places.append(f"{places[-1]}/{segment}")
    return tuple(places)


def _is_wild(segment: str) -> bool:
    return not _WILD.isdisjoint(segment)


def overlap(a: str, b: str) -> bool:
    """Could one path match both patterns?"""
    if a == b:
        return True
    return not is_resource(a) and not is_resource(b) and _paths_meet(_segments(a), _segments(b))


@lru_cache(maxsize=65536)
def _paths_meet(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    """A directory claim holds the directory itself too: `src/**` meets `src`."""
    return _sequences_meet(a, b, "**", _names_meet)


def _names_meet(a: str, b: str) -> bool:
    """Could one file name match both?"""
    if _is_wild(a) or _is_wild(b):
        return _globs_meet(a, b)
    return a == b


@lru_cache(maxsize=65536)
def _globs_meet(a: str, b: str) -> bool:
    """Character classes count as any one character."""
    return _sequences_meet(_tokens(a), _tokens(b), "*", _tokens_meet)


def _tokens_meet(a: str, b: str) -> bool:
    return a == b or _ANY in (a, b)


def _tokens(name: str) -> tuple[str, ...]:
    tokens: list[str] = []
    i = 0
    while i < len(name):
        # As in fnmatch: `]` right after `[` or `[!` is one of the characters.
        end = name.find("]", i + (3 if name.startswith("[!", i) else 2)) if name[i] == "[" else -1
        if end > 0 or name[i] == "?":
            tokens.append(_ANY)
            i = max(end, i) + 1
        else:
            tokens.append(name[i])
            i += 1
    return tuple(tokens)


def _sequences_meet(a: tuple[str, ...], b: tuple[str, ...], many: str, meets: _Meets) -> bool:
    """Is there a sequence that both describe, where `many` stands for any number of parts?

    Row by row instead of by recursion: a pattern may be longer than the stack is deep.
    """
    same = 0
    while same < len(a) and same < len(b) and many not in (a[same], b[same]):
        if not meets(a[same], b[same]):
            return False
        same += 1
    a, b = a[same:], b[same:]
    row = [True]  # row[j]: a[i:] and b[len(b) - j:] meet
    for part in reversed(b):
        row.append(row[-1] and part == many)
    for mine in reversed(a):
        below, row = row, [row[0] and mine == many]
        for j, theirs in enumerate(reversed(b), start=1):
            if mine == many or theirs == many:
                row.append(below[j] or row[j - 1])
            else:
                row.append(below[j - 1] and meets(mine, theirs))
    return row[-1]


def each_claim(claims: Claims) -> Iterator[tuple[str, str]]:
    for pattern in claims.write:
        yield WRITE, pattern
    for pattern in claims.append:
        yield APPEND, pattern
    for pattern in claims.read:
        yield READ, pattern


def conflict(a: Claims, b: Claims) -> bool:
    """Must holders of these two never overlap in time?"""
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


_NOTHING_BELOW: tuple[str, ...] = ()


def _drop_one(node: _Node, key: tuple[str, tuple[str, ...], int]) -> None:
    if node.here[key] == 1:
        del node.here[key]
    else:
        node.here[key] -= 1


class Holdings:
    """Claims held by numbered holders, kept so that finding a conflict costs the depth of a path.

    Iterates dictionaries in the order of insertion only: the answer depends on nothing else.
    """

    def __init__(self) -> None:
        self._root = _Node()
        self._named: dict[str, _Node] = {}  # resources, which nothing but the same name meets
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
            if is_resource(pattern):
                node, rest = self._named.setdefault(pattern, _Node()), _NOTHING_BELOW
            else:
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
            if is_resource(pattern):
                node = self._named[pattern]
                _drop_one(node, (mode, _NOTHING_BELOW, holder))
                if not node.here:
                    del self._named[pattern]
            else:
                self._remove(mode, _segments(pattern), holder)

    def _remove(self, mode: str, segments: tuple[str, ...], holder: int) -> None:
        path: list[tuple[_Node, str]] = []
        node, rest = self._root, segments
        while rest and not _is_wild(rest[0]):
            path.append((node, rest[0]))
            node = node.below[rest[0]]
            rest = rest[1:]
        _drop_one(node, (mode, rest, holder))
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
            if is_resource(pattern):
                named = self._named.get(pattern)
                for held_mode, _, holder in named.here if named else ():
                    if (mode, held_mode) not in _SHARED:
                        yield holder
            else:
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
        """Held claims below the point where `wild` stops being literal. There are only as many as are held."""
        stack: list[tuple[_Node, tuple[str, ...]]] = [(child, (name,)) for name, child in reversed(node.below.items())]
        while stack:
            current, path = stack.pop()
            for held_mode, held_rest, holder in current.here:
                if (mode, held_mode) not in _SHARED and _paths_meet(wild, path + held_rest):
                    yield holder
            stack.extend((child, (*path, name)) for name, child in reversed(current.below.items()))
