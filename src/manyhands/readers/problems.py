"""A mistake in a file as a value, and many of them as one message.

A file is refused as a whole, so all of its mistakes are collected before any is reported.
"""

import difflib
import reprlib
from collections.abc import Callable, Iterable

from msgspec import Struct

#: A message lists this many problems. Its count is always complete.
LISTED_MAX = 50
#: A million bad rows must not become a million values in memory.
KEPT_MAX = 1000

#: The place of a value in its file: keys of tables and positions in lists.
FieldPath = tuple[str | int, ...]


class Problem(Struct, frozen=True, kw_only=True, omit_defaults=True):
    file: str
    line: int = 0  # 0: the file as a whole
    field: str = ""
    value: str = ""  # shortened and printable
    message: str
    hint: str = ""


class Problems:
    """The first problems in the order they were found, and the total number."""

    def __init__(self) -> None:
        self.kept: list[Problem] = []
        self.total = 0

    def add(self, problem: Problem) -> None:
        self.total += 1
        if len(self.kept) < KEPT_MAX:
            self.kept.append(problem)

    def by_line(self) -> list[Problem]:
        """Problems sorted by file and line, the order in which a person reads."""
        place_of: dict[str, int] = {}
        for problem in self.kept:
            place_of.setdefault(problem.file, len(place_of))
        return sorted(self.kept, key=lambda problem: (place_of[problem.file], problem.line))


class Sheet:
    """One file, or one row of it, that is being checked. It knows the line of each value."""

    def __init__(self, file: str, line_of: Callable[[FieldPath], int], problems: Problems) -> None:
        self.file = file
        self.line_of = line_of
        self.problems = problems

    def wrong(self, path: FieldPath, value: object, rule: str, hint: str = "") -> None:
        """Report a value that breaks the rule of its field: `timeout` must be above 0, got -5."""
        self.tell(path, f"`{dotted(path)}` {rule}, got {value_text(value)}", hint, value)

    def tell(self, path: FieldPath, message: str, hint: str = "", value: object = None) -> None:
        self.problems.add(
            Problem(
                file=self.file,
                line=self.line_of(path),
                field=dotted(path),
                value="" if value is None else value_text(value),
                message=message,
                hint=hint,
            )
        )

    def below(self, prefix: FieldPath) -> "Sheet":
        """The same file, relative to one of its tables: reported paths omit the prefix."""
        return Sheet(self.file, lambda path: self.line_of(prefix + path), self.problems)


def sheet_of_row(file: str, line: int, problems: Problems) -> Sheet:
    """A sheet for a row on one line."""
    return Sheet(file, lambda path: line, problems)


def dotted(path: FieldPath) -> str:
    """`("claims", "write", 0)` as people write it: `claims.write[0]`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            name = step if len(step) <= 60 and step.isprintable() else value_text(step)
            text += f".{name}" if text else name
    return text


_short = reprlib.Repr()
_short.maxstring = _short.maxother = _short.maxlong = 60
_short.maxlevel = 3


def value_text(value: object) -> str:
    """The value as printable text on one line, about 60 characters at most: it may be 2 MB of anything."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "nothing"
    try:
        text = _short.repr(value)
    except ValueError:  # Python refuses to print numbers of thousands of digits
        return "a very large number"
    return text if len(text) <= 64 else text[:60] + "…"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A hint with the nearest known word; "" if none is near."""
    near = difflib.get_close_matches(word[:200], [name for name in known if name.isprintable()], n=1, cutoff=0.6)
    return f"did you mean `{near[0]}`?" if near else ""


def describe(noun: str, problems: list[Problem], total: int) -> tuple[str, str]:
    """All problems as one error: its message, and the hint of the last one.

    Printed as `error: {message}` and `hint: {hint}`, every problem reads like a separate error.
    """
    entries: list[tuple[str, str]] = []
    for problem in problems[:LISTED_MAX]:
        line = f" line {problem.line}" if problem.line else ""
        entries.append((f"{noun} `{problem.file}`{line}: {problem.message}", problem.hint))
    if total > len(entries):
        entries.append((f"… and {total - len(entries)} more ({total} problems in all)", ""))
    last_message, last_hint = entries.pop()
    blocks = [f"{message}\nhint: {hint}" if hint else message for message, hint in entries]
    return "\nerror: ".join([*blocks, last_message]), last_hint
