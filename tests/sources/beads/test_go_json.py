"""A line is changed field by field: what does not change keeps its bytes, what does is written as Go would."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyhands.sources.beads.beads_reading import parse
from manyhands.sources.beads.go_json import encode, patched
from sources.beads.backlog_files import each_sample

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
objects = st.dictionaries(st.text(), values, max_size=8)


@settings(max_examples=60)
@given(values)
def test_any_value_written_as_go_does_reads_back_the_same(value):
    written = encode(value)
    assert json.loads(written) == value
    assert not set("<>&\u2028\u2029\n") & set(written)


def test_go_escapes_what_python_does_not_and_leaves_the_rest():
    assert encode('<a href="x">&\u2028\u2029é😀\x7f\x01\b\f\n\r\t\\/') == (
        '"\\u003ca href=\\"x\\"\\u003e\\u0026\\u2028\\u2029é😀\x7f\\u0001\\b\\f\\n\\r\\t\\\\/"'
    )
    assert encode({"b": 1, "a": [True, None, ""]}) == '{"b":1,"a":[true,null,""]}'


@settings(max_examples=60)
@given(objects)
def test_a_line_as_go_writes_it_comes_through_an_empty_patch_byte_for_byte(fields):
    line = encode(fields).encode()
    assert patched(line, {}) == line


@settings(max_examples=60)
@given(objects, st.dictionaries(st.sampled_from(["status", "notes", "assignee", "x"]), st.none() | st.text()))
def test_a_patch_sets_takes_out_and_leaves_alone(fields, changes):
    for style in ({}, {"indent": 1}, {"separators": (" , ", " : ")}):
        line = json.dumps(fields, ensure_ascii=False, **style).replace("\n", " ").encode("utf-8", "surrogatepass")
        expected = {**fields, **changes}
        assert json.loads(patched(line, changes)) == {
            k: v for k, v in expected.items() if v is not None or k not in changes
        }


def test_numbers_escapes_and_bytes_that_python_would_rewrite_stay_as_they_are():
    line = (
        b'{"id":"a","n":1.50,"big":123456789012345678901234567890,"e":1E400,"half":"\\ud83d","latin":"\xe9","s":"\\/"}'
    )
    assert patched(line, {"id": "b"}) == line.replace(b'"id":"a"', b'"id":"b"')


def test_a_new_field_goes_where_beads_would_write_it_and_unknown_ones_stay_put():
    line = b'{"id":"a","title":"t","rig":1,"status":"open","created_at":"c","updated_at":"u","labels":[],"zz":2}'
    patch = {"notes": "n", "assignee": "me", "closed_at": "x", "started_at": "s"}
    assert " ".join(json.loads(patched(line, patch))) == (
        "id title notes rig status assignee created_at updated_at started_at closed_at labels zz"
    )


def test_marks_before_and_after_a_line_are_kept():
    assert patched(b'\xef\xbb\xbf{"id":"a"}\r', {"status": "open"}) == b'\xef\xbb\xbf{"id":"a","status":"open"}\r'


@pytest.mark.parametrize("line", [b"", b"[]", b'{"a":1', b'{"a" 1}', b'{"a":1}{}', b'{"a":1,}', b"{a:1}", b"1"])
def test_what_is_no_object_is_never_patched(line):
    with pytest.raises(ValueError):  # noqa: PT011
        patched(line, {"status": "open"})


@each_sample
def test_the_lines_of_a_real_backlog_come_through_an_empty_patch(sample):
    """Byte for byte where Go wrote them; some files were written by others, with blanks or without its escapes."""
    beads = parse(sample.read_bytes(), sample.name)
    for id in beads.issues:
        line = beads.lines[beads.line_of[id] - 1]
        assert json.loads(patched(line, {})) == json.loads(line)
        if not line.startswith(b'{"id": '):
            assert patched(line, {}) == line
