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
    r"[Gg](o|oes|oing) on": "continue",
    r"(is|are|was|were) over(?=[.,:;)]| (and|when|before|after)\b)": "has finished, has ended",
    r"(by|to|of|for) who (?!in\b)[a-z]\w*": "whoever, the process that",
    r"[Ii]n the midst": "in the middle",
    r"[Aa]t the most": "at most",
    r"(has|have|is|are) no [a-z]+ any more": "no longer",
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
    lines = [line for lines in found.values() for line in lines]
    assert lines == [], "\n".join(lines)


@pytest.mark.parametrize(
    "text",
    [
        "For who looks at the book in between",
        "the run goes on with it",
        "until it is over, from another terminal",
        "one migration after the other, by who may",
        "2.8 GB at the most",
        "it has no route any more",
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
        "forever; its needs are done; its need to wait",
        "it flows over the edge; it is over the budget; go once",
        "whoever looks at it",
    ],
)
def test_good_english_is_left_alone(text: str) -> None:
    assert list(found_in(text)) == []
