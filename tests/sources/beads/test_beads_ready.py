"""What is ready, by the rules of Beads: each rule by itself, and all of them against a plain second telling."""

import json

import pytest

from manyhands.sources.beads.beads_reading import parse
from manyhands.sources.beads.beads_ready import Conditional, ReadyOrder, finished_epics, ready, runnable, why_not_ready
from manyhands.sources.beads.issue import STATUSES
from sources.beads.backlog_files import NOW, SAMPLES, backlog, child, depends, each_sample, row, waiting

PAST, FUTURE = "2020-01-01T00:00:00Z", "2100-01-01T00:00:00.5+01:00"


def ready_ids(*rows, **options):
    return {issue.id for issue in ready(backlog(*rows), NOW, **options)}


@pytest.mark.parametrize(
    "fields",
    [
        {"status": "in_progress"},
        {"status": "blocked"},
        {"status": "hooked"},
        {"status": "closed"},
        {"status": "deferred"},
        {"status": "pinned"},
        {"status": "tombstone"},
        {"status": "completed"},
        {"pinned": True},
        {"ephemeral": True},
        {"wisp": True},
        {"is_template": True},
        {"defer_until": FUTURE},
        {"defer_until": "some day"},
        *({"issue_type": each} for each in ["merge-request", "gate", "molecule", "message", "agent", "role", "rig"]),
    ],
)
def test_what_is_not_open_work_is_not_ready(fields):
    assert ready_ids(row("a", **fields), row("b")) == {"b"}


@pytest.mark.parametrize("fields", [{"defer_until": PAST}, {"issue_type": "epic"}, {"issue_type": "convoy"}])
def test_past_deferrals_epics_and_types_of_ones_own_are_ready_to_beads(fields):
    assert ready_ids(row("a", **fields)) == {"a"}


def test_epics_are_never_run():
    assert [issue.id for issue in runnable(backlog(row("e", issue_type="epic"), row("a")), NOW)] == ["a"]


@pytest.mark.parametrize("type", ["blocks", "conditional-blocks", "conditional_blocks"])
@pytest.mark.parametrize("status", ["open", "in_progress", "blocked", "hooked", "deferred", "completed"])
def test_an_issue_is_blocked_until_the_other_is_closed(type, status):
    assert "b" not in ready_ids(row("a", status=status), waiting("b", depends("a", type)))


@pytest.mark.parametrize(
    "blocker", [row("a", status="closed"), row("a", status="pinned"), row("a", status="tombstone")]
)
def test_closed_pinned_and_buried_issues_block_nothing(blocker):
    assert "b" in ready_ids(blocker, waiting("b", "a"))


def test_a_dependency_on_nothing_does_not_block():
    assert ready_ids(
        waiting("b", "gone", "external:proj:cap", depends("gone", "waits-for"), depends("gone", "parent-child"))
    ) == {"b"}


@pytest.mark.parametrize(
    "type", ["related", "relates-to", "discovered-from", "duplicates", "supersedes", "tracks", "until", "made-up"]
)
def test_remarks_do_not_block(type):
    assert ready_ids(row("a"), waiting("b", depends("a", type))) == {"a", "b"}


@pytest.mark.parametrize(
    ("reason", "goes_on"), [("done", False), ("", False), ("Won't fix", True), ("it FAILED", True)]
)
def test_a_conditional_waits_for_a_failure_unless_told_that_any_close_will_do(reason, goes_on):
    rows = (row("a", status="closed", close_reason=reason), waiting("b", depends("a", "conditional-blocks")))
    assert ("b" in ready_ids(*rows)) is goes_on
    assert "b" in ready_ids(*rows, conditional=Conditional.ON_CLOSE)


def test_waits_for_waits_for_all_children_or_for_any():
    def rows(gate, *statuses):
        children = [child(f"c{n}", "s", status=status) for n, status in enumerate(statuses)]
        return row("s"), *children, waiting("w", depends("s", "waits-for", metadata=gate))

    any_child = json.dumps({"gate": "any-children"})
    for gate in ("", "{}", "no json", json.dumps({"gate": "all-children"})):
        assert "w" not in ready_ids(*rows(gate, "closed", "open"))
        assert "w" in ready_ids(*rows(gate, "closed", "pinned"))
        assert "w" in ready_ids(*rows(gate))
    assert "w" in ready_ids(*rows(any_child, "closed", "open"))
    assert "w" not in ready_ids(*rows(any_child, "open", "open"))
    assert "w" in ready_ids(*rows(any_child))


@pytest.mark.parametrize("spelling", ["parent-child", "parent_child"])
def test_what_blocks_a_parent_blocks_all_below_it(spelling):
    rows = [row("x"), waiting("p0", "x")]
    rows += [waiting(f"p{n}", depends(f"p{n - 1}", spelling)) for n in range(1, 200)]
    assert ready_ids(*rows) == {"x"}


def test_an_open_parent_that_is_not_blocked_leaves_its_children_ready():
    assert ready_ids(row("p", issue_type="epic"), child("c", "p")) == {"p", "c"}


def test_a_deferred_parent_puts_off_its_children_and_not_theirs():
    rows = row("p", defer_until=FUTURE), child("c", "p"), child("d", "c")
    assert ready_ids(*rows) == {"d"}


def test_parents_in_a_circle_end_the_walk():
    assert ready_ids(child("a", "b"), child("b", "a", "x"), row("x")) == {"x"}


def test_only_active_statuses_of_ones_own_are_ready_and_all_of_them_block():
    statuses = STATUSES | {"qa": "active", "review": "wip", "shipped": "done"}
    rows = [row(name, status=name) for name in ("qa", "review", "shipped")]
    rows += [waiting(f"after-{name}", name) for name in ("qa", "review", "shipped")]
    beads = parse(b"\n".join(json.dumps(each).encode() for each in rows), "f", statuses)
    assert beads.problems == []
    assert {issue.id for issue in ready(beads, NOW)} == {"qa"}


def test_the_orders_of_beads():
    old, older = "2026-01-02T00:00:00.000000002Z", "2026-01-02T00:00:00.000000001Z"
    recent = "2026-05-28T12:00:00Z"  # a few hours before NOW
    rows = [
        row("low", priority=3, created_at=older),
        row("b", priority=1, created_at=old),
        row("a", priority=1, created_at=old),
        row("c", priority=1, created_at=older),
        row("new", priority=4, created_at=recent),
    ]
    beads = backlog(*rows)
    assert [issue.id for issue in ready(beads, NOW)] == ["a", "b", "c", "low", "new"]
    assert [issue.id for issue in ready(beads, NOW, order=ReadyOrder.OLDEST)] == ["c", "low", "a", "b", "new"]
    assert [issue.id for issue in ready(beads, NOW, order=ReadyOrder.HYBRID)] == ["new", "c", "low", "a", "b"]


def test_every_reason_names_what_is_waited_for():
    beads = backlog(row("x", status="in_progress", assignee="ann"), waiting("p", "x"), child("c", "p"), row("r"))
    assert why_not_ready(beads, NOW) == {
        "x": "is in_progress (ann)",
        "p": "waits for x to be closed; it is in_progress",
        "c": "its parent p waits for x to be closed; it is in_progress",
        "r": "",
    }


def test_an_epic_is_done_when_it_has_children_and_all_of_them_are_closed():
    rows = [row(id, issue_type="epic") for id in ("done", "half", "empty")] + [row("no-epic")]
    rows += [
        child("a", "done", status="closed"),
        child("b", "done", status="closed"),
        child("c", "half", status="closed"),
    ]
    rows += [child("d", "half"), child("e", "no-epic", status="closed")]
    assert finished_epics(backlog(*rows)) == ["done"]


def told_plainly(raw: bytes, now: str) -> set[str]:
    """The rules once more, as they are written down, with no thought of speed. Good for times in one zone."""
    found: dict[str, dict] = {}
    for each in raw.split(b"\n"):
        if each[:1] != b"{":
            continue
        issue = json.loads(each)
        if "title" in issue and (issue["id"] not in found or moment(issue) >= moment(found[issue["id"]])):
            found[issue["id"]] = issue
    found = {id: issue for id, issue in found.items() if issue["status"] != "tombstone"}

    def edges(issue, *types):
        for edge in issue.get("dependencies") or []:
            if edge["type"].replace("parent_child", "parent-child") in types:
                yield edge

    def is_open(id):
        return id in found and found[id]["status"] not in ("closed", "pinned")

    def children(id):
        return [c for c, issue in found.items() if any(e["depends_on_id"] == id for e in edges(issue, "parent-child"))]

    def is_blocked(id, above=()):
        issue = found[id]
        if any(is_open(e["depends_on_id"]) for e in edges(issue, "blocks", "conditional-blocks")):
            return True
        for e in edges(issue, "waits-for"):
            if e["depends_on_id"] in found and any(map(is_open, children(e["depends_on_id"]))):
                return True
        parents = [e["depends_on_id"] for e in edges(issue, "parent-child")]
        return any(p in found and p not in above and is_blocked(p, (*above, id)) for p in parents)

    def is_deferred(issue):
        return bool(issue.get("defer_until")) and issue["defer_until"] > now

    never = {"merge-request", "gate", "molecule", "message", "agent", "role", "rig"}
    return {
        id
        for id, issue in found.items()
        if issue["status"] == "open"
        and not issue.get("pinned")
        and not issue.get("ephemeral")
        and issue["issue_type"] not in never
        and not is_deferred(issue)
        and not any(
            is_deferred(found[e["depends_on_id"]]) for e in edges(issue, "parent-child") if e["depends_on_id"] in found
        )
        and not is_blocked(id)
    }


def moment(issue):
    from datetime import datetime

    return datetime.fromisoformat(issue["updated_at"])


@each_sample
def test_the_ready_set_of_a_real_backlog_is_that_of_the_rules_told_plainly(sample):
    raw = sample.read_bytes()
    expected = told_plainly(raw, "2026-05-28T00:00:00Z")
    assert {issue.id for issue in ready(parse(raw, sample.name), NOW)} == expected


@pytest.mark.skipif(not SAMPLES, reason="no real backlogs beside the project")
def test_the_real_backlogs_have_something_to_tell_apart():
    counts = {path.stem: len(ready(parse(path.read_bytes(), path.name), NOW)) for path in SAMPLES}
    assert sum(counts.values()) > 300, counts
