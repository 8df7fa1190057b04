"""A directory of Markdown files as a backlog."""

from pathlib import Path

import pytest

from manyhands.errors import BacklogError
from manyhands.sources.beads.issue_changes import Block, Claim, Close, ReleaseIssue
from manyhands.sources.trackers.markdown_tracker import MarkdownTracker

FILE = """---
title: Fix the parser   # one line
labels:
  - bug
priority: 1
needs: [lexer]
files: ["src/parser.py"]
kind: code
---
It fails on `a: b`.

---
This is still the text.
"""


def test_a_file_says_what_its_task_is(tmp_path: Path) -> None:
    (tmp_path / "parser.md").write_text(FILE)
    (tmp_path / "lexer.md").write_text("# Rewrite the lexer\n\nIt is slow.\n")
    for name in ("README.md", "_draft.md", ".hidden.md", "notes.txt"):
        (tmp_path / name).write_text("for people")
    issues = MarkdownTracker(tmp_path).load().issues
    assert list(issues) == ["lexer", "parser"]
    lexer, parser = issues.values()
    assert (lexer.title, lexer.description, lexer.status) == ("Rewrite the lexer", "It is slow.", "open")
    assert (parser.title, parser.priority, parser.labels) == ("Fix the parser", 1, ("bug", "kind:code"))
    assert parser.description == "It fails on `a: b`.\n\n---\nThis is still the text."
    assert [dependency.depends_on_id for dependency in parser.dependencies] == ["lexer"]
    assert parser.metadata == {"files": ["src/parser.py"]}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("---\ntitle: x\n", "has no end"),
        ("---\n: : {\n---\n", "is not valid YAML"),
        ('---\ntitle: !!int ""\n---\n', "is not valid YAML"),
        ("---\ntitle: !!timestamp x\n---\n", "is not valid YAML"),
        ("---\nlabels: " + "[" * 100_000 + "\n---\n", "is nested too deeply"),
        ("---\nlabels: &a [*a]\n---\n", "a reference to what it is part of"),
        ("---\n- a\n---\n", "must be `name: value` lines"),
        ("---\nstatus: maybe\n---\n", "`status` must be one of open, todo"),
        ("---\npriority: 9\n---\n", "`priority` must be from 0 to 4, got 9"),
        ("---\nlabels: 3\n---\n", "the front matter is wrong"),
    ],
)
def test_one_bad_file_is_named_and_the_others_are_used(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "bad.md").write_text(text)
    (tmp_path / "good.md").write_text("Do it.")
    (tmp_path / "binary.md").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "a b.md").write_text("a name with a blank")
    tracker = MarkdownTracker(tmp_path)
    beads = tracker.load()
    assert list(beads.issues) == ["good"]
    assert len(beads.problems) == 3
    assert any(says in problem.message for problem in beads.problems)
    assert not tracker.apply([Claim("bad", "me")])[0].holds


def test_only_the_fields_of_a_result_change(tmp_path: Path) -> None:
    file = tmp_path / "parser.md"
    file.write_text(FILE)
    tracker = MarkdownTracker(tmp_path)
    before = tracker.signature()
    assert tracker.apply([Claim("parser", "me-1")])[0].holds
    assert tracker.signature() != before
    assert not tracker.apply([Claim("parser", "somebody-else")])[0].holds
    assert tracker.apply([Block("parser", "me-1", 'exit 3: "no"\nsecond line')])[0].holds
    text = file.read_text()
    assert 'status: failed\nby: "me-1"\nnote: "manyhands me-1 failed:\\nexit 3: \\"no\\"\\nsecond line"\n---\n' in text
    assert text.startswith(FILE.partition("kind: code\n")[0])
    assert text.endswith(FILE.partition("kind: code\n---\n")[2])
    assert tracker.load().issues["parser"].status == "blocked"
    assert tracker.apply([ReleaseIssue("parser", "me-1")])[0].holds
    assert tracker.load().issues["parser"].status == "open"
    assert tracker.apply([Claim("parser", "me-1"), Close("parser", "me-1", "fine")])[1].holds
    assert "status: done" in file.read_text()
    assert not tracker.apply([Claim("gone", "me-1")])[0].holds


def test_a_directory_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BacklogError, match="there is no directory"):
        MarkdownTracker(tmp_path / "nowhere")
