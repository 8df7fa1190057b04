"""The kind of work of an issue, from its labels, or else words in its title, or else words in its description."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from msgspec import Struct

from manyhands.readers.name_rules import is_good_name
from manyhands.sources.beads.issue import Issue

#: A label like `kind:audit` decides it.
_EXPLICIT = "kind:"


class KindRule(Struct, frozen=True, forbid_unknown_fields=True):
    kind: str
    labels: tuple[str, ...] = ()  # in addition to the kind's own name
    words: tuple[str, ...] = ()  # in title or description: whole words, case-insensitive


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


#: Three kinds, each for its own host. If a text has words of several kinds, the first word decides.
DEFAULT_RULES = (
    KindRule(
        "reasoning",
        labels=("analysis", "research", "planning", "architecture", "investigation", "spike"),
        words=_words(
            "analyze analyse analysis reason reasoning prove plan design investigate research compare evaluate decide "
            "assess explore audit review"
        ),
    ),
    KindRule(
        "text",
        labels=("chat", "docs", "documentation", "writing", "summary", "translation"),
        words=_words(
            "summarize summarise summary document documentation docs readme changelog translate describe explain "
            "proofread rewrite draft article email"
        ),
    ),
    KindRule(
        "code",
        labels=(
            "coding",
            "bug",
            "fix",
            "feature",
            "refactor",
            "refactoring",
            "test",
            "tests",
            "testing",
            "performance",
        ),
        words=_words(
            "code implement refactor fix bug debug function class method test tests add remove rename compile build "
            "crash support migrate optimize optimise"
        ),
    ),
)
#: Beads tracks work on code, so an issue without other signs is about code.
DEFAULT_KIND = "code"


class KindTable(Struct, frozen=True, forbid_unknown_fields=True):
    rules: tuple[KindRule, ...] = DEFAULT_RULES
    otherwise: str = DEFAULT_KIND


DEFAULT_KINDS = KindTable()


def table_of(words_of: Mapping[str, Sequence[str]], otherwise: str = DEFAULT_KIND) -> KindTable:
    """A table in which the same words count as labels and in texts. Without words, the default rules."""
    if not words_of:
        return KindTable(otherwise=otherwise)
    rules = tuple(KindRule(kind, labels=tuple(words), words=tuple(words)) for kind, words in words_of.items())
    return KindTable(rules, otherwise)


def kind_of(issue: Issue, table: KindTable = DEFAULT_KINDS) -> str:
    return _kind_of(issue.labels, issue.title, issue.description, table)


# A watched backlog is read repeatedly, and without a cache the search for words took most of that time.
@lru_cache(maxsize=20_000)
def _kind_of(labels: tuple[str, ...], title: str, description: str, table: KindTable) -> str:
    kind_by_label, kind_by_word, words = _lookup(table)
    for label in labels:
        name = label[len(_EXPLICIT) :]
        if label.lower().startswith(_EXPLICIT) and is_good_name(name):
            return name
    for label in labels:
        if kind := kind_by_label.get(label.lower()):
            return kind
    for text in (title, description):
        if words is not None and (found := words.search(text)):
            return kind_by_word[found[0].lower()]
    return table.otherwise


@lru_cache(maxsize=16)
def _lookup(table: KindTable) -> tuple[dict[str, str], dict[str, str], re.Pattern[str] | None]:
    """Label → kind, word → kind, and a pattern for the first such word. Earlier rules take precedence."""
    by_label: dict[str, str] = {}
    by_word: dict[str, str] = {}
    for rule in table.rules:
        for label in (rule.kind, *rule.labels):
            by_label.setdefault(label.lower(), rule.kind)
        for word in rule.words:
            by_word.setdefault(word.lower(), rule.kind)
    # The longest first, because otherwise `test` would hide `test case`.
    words = sorted(by_word, key=len, reverse=True)
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, words))})(?!\w)", re.IGNORECASE) if words else None
    return by_label, by_word, pattern
