"""From the words that were typed to the values a command takes, or an error that says which word is wrong."""

from collections.abc import Iterable, Sequence
from typing import Any

from manyhands.errors import UsageError
from manyhands.surfaces.cli.parsing.declarations import REQUIRED, CliCommand, Field

HELP = "--help"


class HelpWanted(Exception):
    """`--help` is among the words."""


def first_name(words: Sequence[str], options: Iterable[Field]) -> int:
    """Where the first word stands that is neither an option nor its value; the length if there is none."""
    known = _by_name(options)
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] not in ("-", "--", HELP):
        name, value = _option_in(words[at], known)
        at += 1 if value is not None or known[name].is_flag else 2
    return min(at, len(words))


def values_of(command: CliCommand, words: Sequence[str]) -> dict[str, Any]:
    """The value of every field; an option may stand before, between and after arguments."""
    known = _by_name(command.options)
    values: dict[str, Any] = {}
    positional: list[str] = []
    left = list(reversed(words))
    while left:
        word = left.pop()
        if word == "--":
            positional += reversed(left)
            break
        if not word.startswith("-") or word == "-":
            positional.append(word)
        elif word == HELP:
            raise HelpWanted
        else:
            _take_option(word, left, known, values)
    _take_arguments(command.arguments, positional, values)
    for field in command.fields:
        if field.name not in values:
            if field.default is REQUIRED:
                raise UsageError(f"{field.shown} is missing")
            values[field.name] = field.default
    return values


def _by_name(options: Iterable[Field]) -> dict[str, Field]:
    return {name: field for field in options for name in (*field.names, field.off) if name}


def _take_option(word: str, left: list[str], known: dict[str, Field], values: dict[str, Any]) -> None:
    name, text = _option_in(word, known)
    field = known[name]
    if field.is_flag:
        if text is not None:
            raise UsageError(f"`{name}` does not take a value, got `{text}`")
        values[field.name] = name != field.off
        return
    if text is None and not left:
        raise UsageError(f"`{name}` needs a value")
    value = field.convert(left.pop() if text is None else text)
    if field.is_list:
        values.setdefault(field.name, []).append(value)
    else:
        values[field.name] = value


def _take_arguments(arguments: list[Field], words: list[str], values: dict[str, Any]) -> None:
    left = list(words)
    for field in arguments:
        if left and field.is_list:
            values[field.name] = [field.convert(word) for word in left]
            left = []
        elif left:
            values[field.name] = field.convert(left.pop(0))
    if left:
        raise UsageError(f"there is no place for the argument `{left[0]}`")


def _option_in(word: str, known: Iterable[str]) -> tuple[str, str | None]:
    """The name of an option and the value in the same word, if there is one: `--output=json` or `-ojson`."""
    if not word.startswith("--") and word[:2] in known:
        return word[:2], word[2:] or None
    name, equals, text = word.partition("=")
    if name not in known:
        raise UsageError(f"there is no option `{name}`{near(name, (*known, HELP))}")
    return name, text if equals else None


def near(word: str, known: Iterable[str]) -> str:
    from manyhands.readers.problems import did_you_mean  # here: only typos need it

    hint = did_you_mean(word, known)
    return f": {hint}" if hint else ""
