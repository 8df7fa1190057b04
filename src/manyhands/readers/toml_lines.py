"""Finds the line of each value in a TOML file: `tomllib` gives the values but not their lines.

It reads text that `tomllib` has already accepted, so it does not have to check anything.
"""

import re
import tomllib
from bisect import bisect_right

from manyhands.readers.problems import FieldPath

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY_PART = re.compile(r'[ \t]*([A-Za-z0-9_-]+|"(?:[^"\\\n]++|\\.)*+"|\'[^\'\n]*\')[ \t]*')
_STRING = re.compile(
    # Up to two quotes may precede the closing three. Possessive, because strings may be megabytes long.
    r'"""(?:[^"\\]++|\\.|"{1,2}(?!"))*+"""(?:"{0,2})'
    r"|'''.*?'''(?:'{0,2})"
    r'|"(?:[^"\\\n]++|\\.)*+"'
    r"|'[^'\n]*'",
    re.DOTALL,
)
_SCALAR = re.compile(r"[^,\]}\n#]+")


class TomlLines:
    """Looks up the line of a value, or of the nearest table around it that has one."""

    def __init__(self, line_by_path: dict[FieldPath, int]) -> None:
        self._line_by_path = line_by_path

    def __call__(self, path: FieldPath) -> int:
        while path:
            if path in self._line_by_path:
                return self._line_by_path[path]
            path = path[:-1]
        return self._line_by_path.get((), 0)


def toml_lines(text: str) -> TomlLines:
    return TomlLines(_Scanner(text).scan())


def toml_value_spans(text: str) -> dict[FieldPath, tuple[int, int]]:
    """Where each value after an equals sign or in an array begins and ends. Tables with a header have no span."""
    scanner = _Scanner(text)
    scanner.scan()
    return scanner.span_by_path


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._newlines = [match.start() for match in re.finditer("\n", text)]
        self._line_by_path: dict[FieldPath, int] = {}
        self.span_by_path: dict[FieldPath, tuple[int, int]] = {}
        self._lengths: dict[FieldPath, int] = {}  # array of tables → its length so far

    def scan(self) -> dict[FieldPath, int]:
        table: FieldPath = ()
        while self._skip_blank():
            if self._text[self._at] == "[":
                table = self._header()
            else:
                self._pair(table)
        return self._line_by_path

    def _skip_blank(self) -> bool:
        """Skip blanks and comments; False at the end of the text."""
        blank = _BLANK.match(self._text, self._at)
        if blank:
            self._at = blank.end()
        return self._at < len(self._text)

    def _line(self) -> int:
        return bisect_right(self._newlines, self._at - 1) + 1

    def _header(self) -> FieldPath:
        line = self._line()
        is_array = self._text.startswith("[[", self._at)
        self._at += 2 if is_array else 1
        keys = self._keys()
        self._at += 2 if is_array else 1
        path: FieldPath = ()
        for key in keys:
            path = self._last(path)
            path += (key,)
        if is_array:
            self._line_by_path.setdefault(path, line)
            place = self._lengths.get(path, 0)
            self._lengths[path] = place + 1
            path += (place,)
        self._line_by_path[path] = line
        return path

    def _last(self, path: FieldPath) -> FieldPath:
        """The path of the latest table: a header below an array of tables means its last one."""
        return (*path, self._lengths[path] - 1) if path in self._lengths else path

    def _pair(self, table: FieldPath) -> None:
        line = self._line()
        path = table
        for key in self._keys():
            path += (key,)
            self._line_by_path.setdefault(path, line)
        self._at += 1  # the equals sign
        self._value(path)

    def _keys(self) -> list[str]:
        keys: list[str] = []
        while part := _KEY_PART.match(self._text, self._at):
            key = part[1]
            keys.append(tomllib.loads(f"key = {key}")["key"] if key[0] in "\"'" else key)
            self._at = part.end()
            if self._text[self._at] != ".":
                break
            self._at += 1
        return keys

    def _value(self, path: FieldPath) -> None:
        self._skip_blank()
        self._line_by_path.setdefault(path, self._line())
        begin = self._at
        opening = self._text[begin]
        if opening == "[":
            self._array(path)
        elif opening == "{":
            self._inline_table(path)
        else:
            found = (_STRING if opening in "\"'" else _SCALAR).match(self._text, self._at)
            self._at = found.end() if found else len(self._text)
        end = self._at
        if opening not in "[{\"'":  # a bare value ends where the next token begins
            end = begin + len(self._text[begin:end].rstrip())
        self.span_by_path[path] = begin, end

    def _array(self, path: FieldPath) -> None:
        self._at += 1
        place = 0
        while self._skip_blank() and self._text[self._at] != "]":
            self._value((*path, place))
            place += 1
            self._skip_comma()
        self._at += 1

    def _inline_table(self, path: FieldPath) -> None:
        self._at += 1
        while self._skip_blank() and self._text[self._at] != "}":
            self._pair(path)
            self._skip_comma()
        self._at += 1

    def _skip_comma(self) -> None:
        if self._skip_blank() and self._text[self._at] == ",":
            self._at += 1
