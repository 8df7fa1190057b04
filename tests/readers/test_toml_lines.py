"""Lines of TOML values, checked against what `tomllib` makes of the same text."""

import tomllib
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from manyhands.readers.problems import FieldPath
from manyhands.readers.toml_lines import toml_lines

TRICKY = '''\
# [[task]] in a comment
[plan] # x
name = "a [[task]] # b"

[[task]]
id = 'one'
"quoted.key" = 1
claims.write = ["x",
  # a comment, with ] and "
  "y"]
prompt = """
[[task]]
id = "no\\"""
more = 1"""""
title = \'\'\'
x = 1
''\'\'\'

[[task]]
id = "two"
env = { A = "}", "B=C" = '{' }
at = 1979-05-27 07:32:00
[task.claims]
read = ["z"]
[[task.steps]]
n = 1
[[task.steps]]
n = 2
'''


def test_lines_are_found_in_spite_of_strings_comments_and_nesting() -> None:
    document = tomllib.loads(TRICKY)
    assert len(document["task"]) == 2
    line_of = toml_lines(TRICKY)
    first, second = ("task", 0), ("task", 1)
    assert line_of(("plan", "name")) == 3
    assert line_of(first) == 5
    assert line_of((*first, "quoted.key")) == 7
    assert line_of((*first, "claims")) == line_of((*first, "claims", "write", 0)) == 8
    assert line_of((*first, "claims", "write", 1)) == 10
    assert line_of((*first, "prompt")) == 11
    assert line_of((*first, "title")) == 15
    assert line_of(second) == 19
    assert line_of((*second, "env", "B=C")) == 21
    assert line_of((*second, "claims", "read")) == 24
    assert line_of((*second, "steps", 1, "n")) == 28
    assert line_of((*second, "nosuch", 3)) == 19
    assert line_of(("nosuch",)) == 0


keys = st.text("ab.-_ é\"'#[]=\\", min_size=1, max_size=5)
strings = st.text("ab\n\t\"'\\#[]{}=,é", max_size=12)
values = st.recursive(
    st.integers(-9, 9) | st.booleans() | strings | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)


def basic(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'


class Writer:
    """Writes TOML and keeps the line on which it wrote each key."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.text = ""
        self.lines: dict[FieldPath, int] = {}
        self._draw = draw

    def _line(self) -> int:
        return self.text.count("\n") + 1

    def value(self, value: Any, path: FieldPath) -> None:
        if isinstance(value, list):
            self.text += "["
            for place, item in enumerate(value):
                self.text += self._draw(st.sampled_from(["", " ", "\n  ", ' # ] "\n']))
                self.lines[*path, place] = self._line()
                self.value(item, (*path, place))
                self.text += self._draw(st.sampled_from([",", " ,", "\n,"]))
            self.text += "]"
        elif isinstance(value, dict):
            self.text += "{"
            for place, (key, item) in enumerate(value.items()):
                self.text += ", " if place else " "
                self.lines[*path, key] = self._line()
                self.text += f"{basic(key)} = "
                self.value(item, (*path, key))
            self.text += " }"
        elif isinstance(value, str):
            long = '"""' + value.replace("\\", "\\\\").replace('"', '\\"') + '"""'
            self.text += self._draw(st.sampled_from([basic(value), long]))
        else:
            self.text += str(value).lower()

    def table(self, header: str, table: dict[str, Any], path: FieldPath) -> None:
        self.lines[path] = self._line()
        self.text += header + self._draw(st.sampled_from(["\n", " # [x]\n", "\n\n"]))
        for key, value in table.items():
            self.lines[*path, key] = self._line()
            self.text += f"{basic(key)} = "
            self.value(value, (*path, key))
            self.text += self._draw(st.sampled_from(["\n", " # '\n", '\n# "\n']))


@st.composite
def documents(draw: st.DrawFn) -> Writer:
    writer = Writer(draw)
    tables = draw(st.lists(st.dictionaries(keys, values, max_size=4), max_size=3))
    for place, table in enumerate(tables):
        writer.table("[[task]]", table, ("task", place))
    return writer


@settings(max_examples=100, deadline=None)
@given(written=documents())
def test_every_key_is_found_on_the_line_it_was_written_on(written: Writer) -> None:
    tomllib.loads(written.text)
    line_of = toml_lines(written.text)
    for path, line in written.lines.items():
        assert line_of(path) == line, (path, written.text)
