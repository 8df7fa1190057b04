"""Any file that was ever found under the name is read: the sound part is usable, the rest is named with its line."""

import json
import time

import pytest

from manyhands.sources.beads.beads_reading import parse
from sources.beads.backlog_files import backlog, child, depends, each_sample, line, row, text, waiting


def told(beads, part):
    """Lines of the problems whose message has this in it."""
    return [problem.line for problem in beads.problems if part in problem.message]


def test_every_field_is_kept_known_to_us_or_not():
    given = row("bd-1", rig="north", hook_bead={"deep": [1, 2.50]}, metadata={"files": ["a.py"]})
    beads = backlog(given)
    assert beads.fields("bd-1") == given
    assert beads.issues["bd-1"].metadata == {"files": ["a.py"]}
    assert beads.problems == []


def test_headers_memories_and_blank_lines_are_no_issues():
    header = {"_schema": "beads-jsonl/1", "_dolt_branch": "main", "_sort": "stable-v1"}
    memory = {"_type": "memory", "key": "k", "value": "v"}
    beads = backlog(header, b"", {"_type": "issue", **row("bd-1")}, memory, b"   ")
    assert list(beads.issues) == ["bd-1"]
    assert beads.line_of == {"bd-1": 3}
    assert beads.problems == []


def test_a_byte_order_mark_carriage_returns_and_a_missing_last_line_end_do_no_harm():
    raw = b"\xef\xbb\xbf" + line(row("bd-1")) + b"\r\n" + line(row("bd-2"))
    beads = parse(raw, "issues.jsonl")
    assert list(beads.issues) == ["bd-1", "bd-2"]
    assert beads.problems == []


def test_of_one_id_on_two_lines_the_newer_counts_wherever_it_stands():
    old = row("bd-1", title="old", updated_at="2026-01-01T00:00:00Z")
    new = row("bd-1", title="new", updated_at="2026-01-01T00:00:00.000000001Z")
    for rows, loser in (((old, new), 1), ((new, old), 2)):
        beads = backlog(*rows)
        assert beads.issues["bd-1"].title == "new"
        assert told(beads, "is also on line") == [loser]


def test_of_two_lines_of_one_age_the_later_counts_also_across_time_zones():
    here = row("bd-1", title="here", updated_at="2026-01-01T00:00:00Z")
    there = row("bd-1", title="there", updated_at="2025-12-31T16:00:00-08:00")
    assert backlog(here, there).issues["bd-1"].title == "there"
    assert backlog(there, here).issues["bd-1"].title == "here"


def test_an_unfinished_merge_is_told_once_and_both_its_sides_are_read():
    ours = row("bd-2", title="ours", updated_at="2026-02-01T00:00:00Z")
    theirs = row("bd-2", title="theirs", updated_at="2026-03-01T00:00:00Z")
    beads = backlog(
        row("bd-1"), b"<<<<<<< HEAD", ours, row("bd-3"), b"=======", theirs, row("bd-4"), b">>>>>>> branch", row("bd-5")
    )
    assert sorted(beads.issues) == ["bd-1", "bd-2", "bd-3", "bd-4", "bd-5"]
    assert beads.issues["bd-2"].title == "theirs"
    assert [problem.line for problem in beads.problems] == [2]
    assert "1 of them different (bd-2)" in beads.problems[0].message


def test_a_status_nobody_knows_is_told_and_the_issue_stays():
    beads = backlog(row("bd-1"), row("bd-2", status="completed"))
    assert told(beads, "'completed' is unknown") == [2]
    assert beads.issues["bd-2"].status == "completed"


def test_a_priority_that_is_missing_or_out_of_range_is_read_as_2_and_told():
    beads = backlog(
        row("bd-1", priority=...), row("bd-2", priority=7), row("bd-3", priority="high"), row("bd-4", priority=0)
    )
    assert [issue.priority for issue in beads.issues.values()] == [2, 2, 2, 0]
    assert [problem.line for problem in beads.problems] == [1, 2, 3, 3]


def test_a_field_of_the_wrong_type_is_left_out_and_the_rest_of_the_issue_is_used():
    beads = backlog(row("bd-1", labels="ui", description=None, dependencies=[{"type": "blocks"}, depends("bd-9")]))
    issue = beads.issues["bd-1"]
    assert (issue.labels, issue.description, [d.depends_on_id for d in issue.dependencies]) == ((), "", ["bd-9"])
    assert [problem.field for problem in beads.problems] == ["labels", "dependencies[0]", "dependencies"]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (b'{"id":"bd-2","title"', "is not valid JSON"),
        (b"not json", "is not valid JSON"),
        (b"[1,2]", "must be an object"),
        (b"[" * 100_000, "is not valid JSON"),
        (b'{"title":"no id","status":"open","priority":1}', "has no `id`"),
        (b'{"id":"x","data":{},"timestamp":1,"type":"y"}', "is not a Beads issue"),
        (b'{"id":"x","title":"of another tracker","state":"open"}', "is not a Beads issue"),
    ],
)
def test_a_line_that_is_no_issue_is_named_and_its_neighbours_are_read(bad, message):
    beads = backlog(row("bd-1"), bad, row("bd-3"))
    assert list(beads.issues) == ["bd-1", "bd-3"]
    assert told(beads, message) == [2]


def test_a_file_of_something_else_under_the_name_is_told_in_one_sentence():
    beads = backlog(*({"id": f"t{n}", "data": {}, "timestamp": n, "type": "task"} for n in range(50)))
    assert beads.issues == {}
    assert [problem.message for problem in beads.problems] == [
        "none of its 50 rows is a Beads issue; the first has the fields id, data, timestamp, type"
    ]


def test_bytes_that_are_not_utf_8_and_half_characters_are_read_with_a_replacement():
    broken = line(row("bd-1", title="caf?")).replace(b"caf?", b"caf\xe9")
    half = line(row("bd-2", title="caf?")).replace(b"caf?", b"caf\\ud83d")
    beads = backlog(broken, half)
    assert [issue.title for issue in beads.issues.values()] == ["caf\ufffd", "caf\ufffd"]
    assert told(beads, "is not UTF-8") == [1]


def test_tombstones_are_gone_but_known_to_have_been():
    beads = backlog(row("bd-1", status="tombstone", deleted_at="2026-01-01T00:00:00Z"), waiting("bd-2", "bd-1"))
    assert list(beads.issues) == ["bd-2"]
    assert beads.tombstones == {"bd-1"}
    assert beads.problems == []


def test_a_dependency_on_nothing_is_told_unless_it_leads_to_another_project():
    beads = backlog(waiting("bd-1", "bd-99", "external:other:login", depends("bd-98", "related")))
    assert [problem.value for problem in beads.problems] == ["'bd-99'"]


def test_issues_that_wait_for_each_other_are_named_with_the_way_around():
    beads = backlog(waiting("bd-1", "bd-2"), waiting("bd-2", "bd-3"), waiting("bd-3", "bd-1"), waiting("bd-4", "bd-1"))
    assert told(beads, "bd-1 → bd-2 → bd-3 → bd-1") == [1]
    assert beads.circular == {"bd-1", "bd-2", "bd-3"}


def test_a_closed_issue_breaks_a_circle():
    assert backlog(waiting("bd-1", "bd-2"), waiting("bd-2", "bd-1", status="closed")).circular == frozenset()


def test_an_epic_and_its_children_are_no_circle_but_a_child_that_waits_for_its_epic_is():
    epic = row("e", issue_type="epic")
    assert backlog(epic, child("c", "e")).circular == frozenset()
    beads = backlog(epic, child("c", "e", "e"))
    assert beads.circular == {"e", "c"}
    assert told(beads, "wait for each other") == [1]


def test_closing_times_that_contradict_the_status_are_told():
    beads = backlog(row("bd-1", status="closed", closed_at=...), row("bd-2", closed_at="2026-01-01T00:00:00Z"))
    assert told(beads, "`closed_at`") == [1, 2]


def test_five_thousand_issues_are_read_in_half_a_second_of_processor_time():
    words = "The quick brown <fox> jumps & runs. " * 20
    raw = text(
        *(
            waiting(
                f"bd-{n}", f"bd-{n - 1}", depends(f"bd-{n // 50 * 50}", "parent-child"), description=words, owner="o"
            )
            for n in range(1, 5001)
        )
    )
    started_s = time.process_time()
    beads = parse(raw, "issues.jsonl")
    took_s = time.process_time() - started_s
    assert len(beads.issues) == 5000
    assert took_s <= 0.5


@each_sample
def test_every_line_of_a_real_backlog_is_an_issue_a_tombstone_or_named(sample):
    raw = sample.read_bytes()
    beads = parse(raw, sample.name)
    named = {problem.line for problem in beads.problems}
    ids = set()
    for number, each in enumerate(raw.split(b"\n"), 1):
        if not each.strip() or number in named or each[:7] in (b"=" * 7, b">" * 7):
            continue
        fields = json.loads(each)
        if not {"title", "status"} <= fields.keys():
            assert not beads.issues, "rows of another sort are named one by one beside issues"
            continue
        ids.add(fields["id"])
        if beads.line_of[fields["id"]] == number and fields["id"] not in beads.tombstones:
            assert beads.fields(fields["id"]) == fields
    assert ids <= beads.issues.keys() | beads.tombstones
