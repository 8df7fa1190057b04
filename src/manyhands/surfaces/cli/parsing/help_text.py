"""Help as text: whole sentences at any width, wrapped and never cut."""

import enum
import os
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence

from manyhands.surfaces.cli.parsing.declarations import REQUIRED, CliCommand, Field, FieldGroup, Noun, Option

COLUMNS_MIN, COLUMNS_MAX = 40, 100
#: Names longer than this have their text on the next line.
NAMES_COLUMNS = 26


def columns() -> int:
    """Of the terminal, or as COLUMNS says; not by `shutil`, which loads archives to know it."""
    try:
        found = int(os.environ.get("COLUMNS", "")) or 80
    except ValueError:
        try:
            found = os.get_terminal_size(sys.stdout.fileno()).columns or 80
        except (OSError, ValueError):
            found = 80
    return max(COLUMNS_MIN, min(COLUMNS_MAX, found))


def command_help(path: str, command: CliCommand, width: int) -> str:
    usage = " ".join([f"Usage: {path} [OPTIONS]", *map(_usage_of, command.arguments)])
    return _whole([usage, *_body(command, width)])


def noun_help(path: str, noun: Noun, width: int) -> str:
    verbs = named_section("Commands", [(name, summary(verb)) for name, verb in noun.verbs.items()], width)
    if noun.bare is None:
        return _whole([f"Usage: {path} COMMAND ...", paragraphs(noun.text, width), verbs])
    usage = f"Usage: {path} [OPTIONS] [COMMAND ...]"
    return _whole([usage, *_body(noun.bare, width), verbs])


def summary(command: CliCommand) -> str:
    """The first sentence, which says what it does."""
    return " ".join(command.text.split("\n\n")[0].split()).partition(". ")[0].removesuffix(".") + "."


def root_help(
    name: str, text: str, options: Sequence[Field], summaries: Mapping[str, str], epilog: str, width: int
) -> str:
    parts = [f"Usage: {name} [OPTIONS] COMMAND ...", paragraphs(text, width)]
    parts += [
        named_section("Options", map(_option_row, options), width),
        named_section("Commands", summaries.items(), width),
    ]
    return _whole([*parts, paragraphs(epilog, width)])


def _body(command: CliCommand, width: int) -> Iterable[str]:
    yield paragraphs(command.text, width)
    yield named_section("Arguments", ((field.metavar, field.declared.help) for field in command.arguments), width)
    sections: dict[str, list[tuple[str, str]]] = {"Options": []}
    for title, field in _titled_options(command):
        sections.setdefault(title, []).append(_option_row(field))
    sections["Options"].append(("--help", "Show this text and exit."))
    for title, rows in sections.items():
        yield named_section(title, rows, width)
    yield paragraphs(command.epilog, width)


def _titled_options(command: CliCommand) -> Iterable[tuple[str, Field]]:
    """Options that travel as one value stand under the name of that parameter."""
    for each in command.parameters:
        title = each.name.capitalize() if isinstance(each, FieldGroup) else "Options"
        for field in each.fields if isinstance(each, FieldGroup) else [each]:
            if isinstance(field.declared, Option) and not field.declared.hidden:
                yield title, field


def _whole(parts: Iterable[str]) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"


def _usage_of(argument: Field) -> str:
    metavar = argument.metavar + ("..." if argument.is_list else "")
    return metavar if argument.default is REQUIRED else f"[{metavar}]"


def _option_row(field: Field) -> tuple[str, str]:
    names = ", ".join([*field.names, *([field.off] if field.off else [])])
    metavar = "" if field.is_flag else f" {field.metavar}"
    return names + metavar, field.declared.help + _note_of(field)


def _note_of(field: Field) -> str:
    if field.default is REQUIRED:
        return " [required]"
    default = field.default.value if isinstance(field.default, enum.Enum) else field.default
    if field.is_flag or default in (None, "", ()):
        return ""
    return f" [default: {default}]"


def named_section(title: str, rows: Iterable[tuple[str, str]], width: int) -> str:
    rows = list(rows)
    if not rows:
        return ""
    column = min(NAMES_COLUMNS, width // 3, max(len(name) for name, _ in rows) + 4)
    return "\n".join([f"{title}:", *(_row(name, text, column, width) for name, text in rows)])


def _row(name: str, text: str, column: int, width: int) -> str:
    indent = " " * column
    lines = textwrap.wrap(
        text, width, initial_indent=indent, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    if len(name) + 4 > column:
        return "\n".join([f"  {name}", *lines])
    return "\n".join([f"  {name:<{column - 2}}{lines[0].lstrip()}", *lines[1:]]) if lines else f"  {name}"


def paragraphs(text: str, width: int) -> str:
    return "\n\n".join(
        textwrap.fill(" ".join(each.split()), width, break_long_words=False, break_on_hyphens=False)
        for each in text.strip().split("\n\n")
        if each
    )
