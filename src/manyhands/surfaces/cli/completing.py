"""What may stand at the end of a command line that is being typed: from the declarations, and from the store."""

import itertools
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from manyhands.errors import ManyhandsError
from manyhands.surfaces.cli.main import NOUNS, ROOT_FIELDS, noun_of
from manyhands.surfaces.cli.parsing.declarations import CliCommand, Field, Noun
from manyhands.surfaces.cli.parsing.help_text import summary
from manyhands.surfaces.cli.parsing.word_parsing import HELP, first_name
from manyhands.surfaces.cli.settings import Settings

#: More names of tasks, runs or hosts than this help nobody.
NAMES_MAX = 500


class _Place(NamedTuple):
    """Where the word stands that is being typed."""

    command: CliCommand | None
    noun: Noun | None  # if a verb may still come
    words: Sequence[str]  # behind the command


def completions(words: list[str]) -> list[str]:
    """`name<tab>what it is`, for each name that begins as the last word does. Nothing: a file may stand here."""
    typed = words.pop() if words else ""
    with suppress(ManyhandsError, OSError):
        return [line for line in _all(words, typed) if line.startswith(typed)]
    return []


def _all(words: list[str], typed: str) -> Iterable[str]:
    at = first_name(words, ROOT_FIELDS)
    if at == len(words):
        return _option_lines(ROOT_FIELDS) if typed.startswith("-") else _told(NOUNS.items())
    if words[at] not in NOUNS:
        return []
    place = _place_in(noun_of(words[at]), words[at + 1 :])
    if place.command is None:
        return _verb_lines(place.noun) if place.noun is not None else []
    awaited = _awaited(place.command, place.words)
    if awaited is not None:
        return _values(awaited, words)
    if typed.startswith("-"):
        return _option_lines(place.command.options)
    verbs = _verb_lines(place.noun) if place.noun is not None else []
    return [*verbs, *_argument_values(place.command, place.words, words)]


def _place_in(noun: Noun, rest: Sequence[str]) -> _Place:
    leading = noun.bare or noun.verbs.get(noun.assumed)
    if not noun.verbs:
        return _Place(noun.bare, None, rest)
    at = first_name(rest, leading.options if leading else ())
    if at < len(rest) and rest[at] in noun.verbs:
        return _Place(noun.verbs[rest[at]], None, rest[at + 1 :])
    return _Place(leading, noun if at == len(rest) else None, rest)


def _awaited(command: CliCommand, words: Sequence[str]) -> Field | None:
    """The option whose value comes next."""
    if not words:
        return None
    by_name = {name: field for field in command.options for name in field.names}
    field = by_name.get(words[-1])
    return field if field is not None and not field.is_flag else None


def _argument_values(command: CliCommand, words: Sequence[str], whole: Sequence[str]) -> Iterable[str]:
    takes_value = {name for field in command.options if not field.is_flag for name in field.names}
    given = [
        word
        for before, word in zip(["", *words], words, strict=False)
        if not word.startswith("-") and before not in takes_value
    ]
    for number, field in enumerate(command.arguments):
        if field.is_list or number == len(given):
            return _values(field, whole)
    return []


def _values(field: Field, words: Sequence[str]) -> Iterable[str]:
    if field.choices:
        return field.choices
    if field.metavar in ("TASK", "RUN", "HOST"):
        return _names(field.metavar, words)
    return []


def _names(what: str, words: Sequence[str]) -> Iterable[str]:
    """Of the store that the command line names: its newest run's tasks, its runs, or its hosts."""
    from manyhands.surfaces.verbs.store_view import View, find_run

    given = dict(itertools.pairwise(words))
    config, hosts = given.get("--config"), given.get("--hosts")
    settings = Settings(Path(config) if config else None, Path(hosts) if hosts else None, given.get("--store"))
    view = View(settings.load())
    if what == "HOST":
        return [host.name for host in view.hosts]
    book = view.book_if_any
    if book is None or not book.runs:
        return []
    if what == "RUN":
        return list(book.runs)[::-1][:NAMES_MAX]
    run = book.runs.get(given.get("--run", "")) or find_run(book, None)
    return list(run.records)[:NAMES_MAX]


def _verb_lines(noun: Noun | None) -> list[str]:
    return [] if noun is None else _told((name, summary(verb)) for name, verb in noun.verbs.items())


def _option_lines(fields: Iterable[Field]) -> list[str]:
    named = [(name, field.declared.help) for field in fields for name in (*field.names, field.off) if name]
    known = dict(named) | {HELP: "Show this text and exit."}
    return _told((name, text.partition(". ")[0]) for name, text in known.items())


def _told(named: Iterable[tuple[str, str]]) -> list[str]:
    return [f"{name}\t{' '.join(text.split())}" for name, text in named]
