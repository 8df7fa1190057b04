"""Which claims exclude each other: by table, against brute force, and as held in a tree."""

from fnmatch import fnmatchcase
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyhands.core.claims import Holdings, conflict, overlap
from manyhands.core.values.task import Claims

MEET = [
    ("src/a.py", "src/a.py"),
    ("src/auth", "src/auth/keys.py"),
    ("src/auth/", "src/auth/deep/keys.py"),
    ("src/auth/**", "src/auth"),
    ("src/auth", "src/auth/"),
    ("./src//auth", "src/auth"),
    ("src/*.py", "src/a.py"),
    ("src/*.py", "src/a*"),
    ("src/**/test_*.py", "src/core/test_a.py"),
    ("src/**/test_*.py", "src/test_a.py"),
    ("**/x.py", "src/deep/x.py"),
    ("**", "anything/at/all"),
    ("src/?.py", "src/a.py"),
    ("src/[ab].py", "src/a.py"),
    ("src/[!]].py", "src/a.py"),
    ("a*c", "ab*"),
    ("src/**/b/**", "src/a/b/c"),
    ("db:main", "db:main"),
    ("app/[slug]/page.tsx", "app/[slug]/**"),
]
APART = [
    ("src/a.py", "src/b.py"),
    ("src/auth", "src/authors"),
    ("src/*.py", "src/a.md"),
    ("src/*.py", "src/deep/a.py"),
    ("src/a*", "src/b*"),
    ("src/**", "docs/**"),
    ("src/?.py", "src/ab.py"),
    ("db:main", "db:other"),
    ("db:main", "**"),
    ("db:main", "*"),
    ("db:*", "db:main"),
]


@pytest.mark.parametrize(("a", "b"), MEET)
def test_patterns_that_one_path_matches_meet(a: str, b: str) -> None:
    assert overlap(a, b)
    assert overlap(b, a)


@pytest.mark.parametrize(("a", "b"), APART)
def test_patterns_that_no_path_matches_do_not_meet(a: str, b: str) -> None:
    assert not overlap(a, b)
    assert not overlap(b, a)


@pytest.mark.parametrize(
    ("mine", "theirs", "excluded"),
    [
        ("read", "read", False),
        ("append", "append", False),
        ("read", "append", True),
        ("read", "write", True),
        ("append", "write", True),
        ("write", "write", True),
    ],
)
def test_modes_share_a_path_or_exclude_each_other(mine: str, theirs: str, excluded: bool) -> None:
    one, other = Claims(**{mine: ("src/x",)}), Claims(**{theirs: ("src/**",)})
    assert conflict(one, other) is excluded
    assert conflict(other, one) is excluded


def test_patterns_longer_than_the_stack_is_deep_are_compared() -> None:
    long = "a" * 1200
    assert overlap(f"{long}*", f"*{long}")
    assert not overlap(f"{long}*b", f"{long}*c")
    deep = "/".join(["a"] * 1200)
    assert overlap(f"{deep}/**/x", f"**/{deep}/x")


SEGMENT = st.sampled_from(["a", "b", "ab", "*", "a*", "?", "*b", "[ab]", "**"])
PATTERN = st.lists(SEGMENT, min_size=1, max_size=4).map("/".join)
UNIVERSE = ["/".join(path) for depth in (1, 2, 3, 4) for path in product(("a", "b", "ab", "ba"), repeat=depth)]


def matches(pattern: str, path: str) -> bool:
    """By the meaning of globs and nothing else: the path, or a directory it is in where the pattern ends in a name."""

    def one(pattern: list[str], path: list[str]) -> bool:
        if not pattern:
            return not path
        if pattern[0] == "**":
            return any(one(pattern[1:], path[i:]) for i in range(len(path) + 1))
        return bool(path) and fnmatchcase(path[0], pattern[0]) and one(pattern[1:], path[1:])

    names, steps = pattern.split("/"), path.split("/")
    if any(wild in names[-1] for wild in "*?["):
        return one(names, steps)
    return any(one(names, steps[:end]) for end in range(len(steps) + 1))


@given(PATTERN, PATTERN)
@settings(max_examples=300, deadline=None)
def test_overlap_never_says_no_when_a_path_matches_both(a: str, b: str) -> None:
    if any(matches(a, path) and matches(b, path) for path in UNIVERSE):
        assert overlap(a, b)
        assert overlap(b, a)
    assert overlap(a, b) == overlap(b, a)


PLAIN = st.lists(st.sampled_from(["a", "b", "ab", "*", "**"]), min_size=1, max_size=3).map("/".join)


@given(PLAIN, PLAIN)
@settings(max_examples=300, deadline=None)
def test_overlap_says_yes_only_when_a_path_matches_both_if_no_class_blurs_it(a: str, b: str) -> None:
    shared = any(matches(a, path) and matches(b, path) for path in UNIVERSE)
    # `a/**` holds the directory `a` too, which no path of its own meaning matches when it stands alone.
    assert overlap(a, b) == shared or (not shared and "**" in a + b)


CLAIM = st.one_of(PATTERN, st.sampled_from(["db:main", "db:other", "a/", "a/b/"]))
CLAIMS = st.builds(
    lambda write, append, read: Claims(tuple(write), tuple(append), tuple(read)),
    *[st.lists(CLAIM, max_size=2)] * 3,
)


@given(st.lists(CLAIMS, max_size=6), CLAIMS, st.lists(st.integers(0, 5), max_size=3))
@settings(max_examples=300, deadline=None)
def test_what_is_held_conflicts_exactly_as_each_holder_does(
    held: list[Claims], wanted: Claims, gone: list[int]
) -> None:
    holdings = Holdings()
    for holder, claims in enumerate(held):
        holdings.take(holder, claims)
    for holder in gone:
        holdings.release(holder)
    in_the_way = {n for n, claims in enumerate(held) if n not in gone and conflict(claims, wanted)}
    assert set(holdings.conflicts(wanted)) == in_the_way
    assert (holdings.first_conflict(wanted) is None) == (not in_the_way)


def test_nothing_is_left_of_claims_that_were_given_back() -> None:
    holdings = Holdings()
    for holder in range(3):
        holdings.take(holder, Claims(write=("src/a/b.py", "db:main", "src/*.py"), read=("docs/",)))
    for holder in range(3):
        holdings.release(holder)
        holdings.release(holder)
    assert holdings.holders() == []
    assert holdings.first_conflict(Claims(write=("**", "db:main"))) is None
