"""Phrases that readers stumble over must not come back, in anything that people read: code, tests, docs, examples.

CONTRIBUTING.md says how we write. This test knows only patterns. A phrase that is right in one file is allowed there,
with a reason.
"""

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
#: The pattern of a phrase → what to write instead. A space is any white space, also a line break in a comment.
PHRASES = {
    r"[Ff]or who (?!in\b)[a-z]\w*": "for callers that, for whoever",
    r"[Ww]ho (looks|hangs up)": "whoever, callers that, a client that",
    r"[Gg](o|oes|oing|one) on with": "continue",
    # "there is no host" is fine, and so are the comparisons.
    r"(?<!here\s)is no (?!longer\b|more than\b|(less|fewer) than\b|such\b|(way|need) to\b)[A-Za-z]\w*": "is not a",
    r"[Mm]end(s|ed|ing)?": "fix, repair",
    r"[Ff]or ever": "forever, without end",
    r"[Ii]n place of": "instead of",
    r"[Ss]hall": "must, should, will",
    r"as it is where it is not": "unchanged if it is not",
    r"do(es)? not belong into": "must not be stored in",
    r"may come later, its directory not": "may be created later, but its directory must exist now",
    r"[Ii]ts need (?!to\b|for\b)\S+": "it needs `a`, which …",
}
#: A file that may have a phrase → the phrase, as found, and the reason.
ALLOWED = {
    "tests/test_english.py": ("", "it has the patterns"),
    "LICENSE": ("shall", "the text of the MIT licence is fixed"),
}
#: Files that still have such phrases. Take a file out when it has none left; no file may be added.
KNOWN = frozenset(
    {
        "docs/landing.md",
        "docs/routes.md",
        "docs/two-machines.md",
        "src/manyhands/errors.py",
        "src/manyhands/hosts/executors/attempt_steps.py",
        "src/manyhands/hosts/executors/openai_errors.py",
        "src/manyhands/hosts/landing/repository.py",
        "src/manyhands/hosts/landing/touchdown.py",
        "src/manyhands/hosts/landing/worktree.py",
        "src/manyhands/hosts/ray/cluster.py",
        "src/manyhands/hosts/ray/driver.py",
        "src/manyhands/hosts/ray/joining.py",
        "src/manyhands/hosts/ray/messages.py",
        "src/manyhands/readers/nvml_reader.py",
        "src/manyhands/sources/beads/bd.py",
        "src/manyhands/sources/beads/beads_finding.py",
        "src/manyhands/sources/beads/beads_reading.py",
        "src/manyhands/sources/beads/beads_ready.py",
        "src/manyhands/sources/beads/times.py",
        "src/manyhands/sources/config/width_writing.py",
        "src/manyhands/sources/plans/ceiling.py",
        "src/manyhands/sources/split/tree_file.py",
        "src/manyhands/sources/split/walking.py",
        "tests/hosts/executors/test_openai_calls.py",
        "tests/sources/beads/test_beads_reading.py",
        "tests/sources/split/test_correction.py",
        "tests/sources/split/test_directories_on_disk.py",
    }
)
WRITTEN = ("**/*.py", "**/*.md", "**/*.toml", "**/*.js", "**/*.mjs", "**/*.html", "**/*.css", "**/*.sql", "**/*.yaml")


def pattern_of(phrase: str) -> re.Pattern[str]:
    return re.compile(rf"\b{phrase}".replace(" ", r"[\s#]+") + r"(?![\w-])")


PATTERNS = {pattern_of(phrase): instead for phrase, instead in PHRASES.items()}


def files() -> Iterator[Path]:
    yield from (path for path in ROOT.iterdir() if path.is_file() and path.suffix in {".md", ".toml", ""})
    for folder in ("src", "docs", "tests", "examples", "bench"):
        yield from chain.from_iterable((ROOT / folder).glob(pattern) for pattern in WRITTEN)


def found_in(text: str) -> Iterator[tuple[int, str, str]]:
    """The line, the phrase as found, and what to write instead."""
    for pattern, instead in PATTERNS.items():
        for match in pattern.finditer(text):
            yield text.count("\n", 0, match.start()) + 1, re.sub(r"[\s#]+", " ", match[0]), instead


def stumbles() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in files():
        name = str(path.relative_to(ROOT))
        allowed = ALLOWED[name][0] if name in ALLOWED else None
        for line, phrase, instead in found_in(path.read_text(encoding="utf-8")):
            if allowed is None or allowed not in phrase:
                found.setdefault(name, []).append(f"{name}:{line}: `{phrase}`: write {instead}")
    return found


def test_no_phrase_that_readers_stumble_over_comes_back() -> None:
    found = stumbles()
    new = [line for name, lines in found.items() if name not in KNOWN for line in lines]
    assert new == [], "\n".join(new)
    assert KNOWN - set(found) == set(), "these are clean now: take them out of KNOWN"


@pytest.mark.parametrize(
    "text",
    [
        "For who looks at the book in between",
        "the run goes on with it",
        "`x` is no log of Inspect AI",
        "# this is no\n    # tree",
        "mend `url` of the host",
        "it waits for ever",
        "a name in place\nof another",
        "it shall go first",
        "its need a is failed",
        'f"its need {name} is {state}"',
    ],
)
def test_a_phrase_is_found(text: str) -> None:
    assert list(found_in(text)) != []


@pytest.mark.parametrize(
    "text",
    [
        "there is no host `gpu`",
        "it is no longer hosted; this is no more than a hint",
        "for who in ('author', 'committer'):",
        "for who, variable in route.variables():",
        "recommend, amend, amended, shallow, marshalling, mend-free",
        "forever; its needs are done; its need to wait; goes on while",
        "whoever looks at it",
    ],
)
def test_good_english_is_left_alone(text: str) -> None:
    assert list(found_in(text)) == []
