"""Issues as tasks: kind, claims, needs and prompt; what can run as a task is what Beads calls ready."""

import random

import pytest

from manyhands.core.graph import find_cycle
from manyhands.core.values.task import Claims, Task
from manyhands.sources.beads.beads_reading import parse
from manyhands.sources.beads.beads_ready import runnable
from manyhands.sources.beads.issue import Issue
from manyhands.sources.beads.issue_kinds import KindRule, KindTable, kind_of, table_of
from manyhands.sources.beads.issue_tasks import tasks_of
from sources.beads.backlog_files import NOW, backlog, child, depends, each_sample, row, waiting


def task_by_id(*rows, **options):
    return {task.id: task for task in tasks_of(backlog(*rows), NOW, **options).tasks}


def kind(table=None, **fields):
    issue = backlog(row("a", **fields)).issues["a"]
    return kind_of(issue, table) if table else kind_of(issue)


def test_labels_give_the_kind_before_the_title_and_the_title_before_the_description():
    assert kind(labels=["ui", "Docs"], title="Fix the parser", description="investigate") == "text"
    assert kind(labels=["ui"], title="Investigate the parser", description="fix it") == "reasoning"
    assert kind(title="The parser", description="Please summarize it, then fix it") == "text"
    assert kind(title="The parser") == "code"


def test_a_label_can_name_any_kind():
    assert kind(labels=["bug", "kind:audit"]) == "audit"
    assert kind(labels=["kind:not a name", "bug"]) == "code"


def test_words_count_only_as_a_whole():
    assert kind(title="Explanation of planets", description="A designer's prefixes") == "code"


def test_the_rules_can_be_others():
    table = KindTable((KindRule("db", labels=("sql",), words=("table scan", "index")),), otherwise="misc")
    assert kind(table, title="Why a TABLE SCAN here?") == "db"
    assert kind(table, labels=["SQL"]) == "db"
    assert kind(table, title="Fix it") == "misc"
    assert kind(KindTable((), "misc"), title="Fix it") == "misc"


def test_a_task_has_what_its_issue_says_and_the_rest_from_the_pattern():
    given = child(
        "bd-1",
        "e",
        title="Rotate keys",
        description="Because.",
        design="So.",
        acceptance_criteria="- it rotates",
        notes="Last time it failed.",
        priority=0,
        labels=["bug"],
    )
    like = Task("", run=("claude", "-p", "{prompt}"), timeout=60.0, attempts=2)
    assert task_by_id(row("e", issue_type="epic"), given, like=like)["bd-1"] == Task(
        "bd-1",
        kind="code",
        title="Rotate keys",
        priority=0,
        run=("claude", "-p", "{prompt}"),
        timeout=60.0,
        attempts=2,
        parent="e",
        labels=("bug",),
        prompt="Rotate keys\n\nBecause.\n\n## Design\nSo.\n\n"
        "## Acceptance criteria\n- it rotates\n\n## Notes\nLast time it failed.",
    )


def test_file_lists_in_metadata_become_claims():
    metadata = {
        "files": ["./src//a.py", "src/a.py"],
        "touches": ["b/"],
        "claims": {"append": ["CHANGELOG.md"], "read": []},
    }
    assert task_by_id(row("a", metadata=metadata))["a"].claims == Claims(
        write=("src/a.py", "b"), append=("CHANGELOG.md",)
    )
    assert task_by_id(row("a", metadata={"files": []}))["a"].claims == Claims()
    assert task_by_id(row("a", metadata={"team": "x"}))["a"].claims is None


@pytest.mark.parametrize(
    "metadata", [{"files": ["/etc/passwd"]}, {"files": "a.py"}, {"claims": {"lock": ["a"]}}, {"touches": ["a.py", 3]}]
)
def test_a_file_list_that_is_not_sound_makes_no_claims_at_all_and_is_told(metadata):
    like = Task("", claims=Claims(read=("docs/**",)))
    tasks = tasks_of(backlog(row("z"), row("a", metadata=metadata)), NOW, like=like)
    assert tasks.tasks[1].claims is None
    assert [problem.line for problem in tasks.problems] == [2]


def test_needs_are_the_open_blockers_own_and_those_of_the_parents():
    tasks = task_by_id(row("x"), row("y", status="closed"), waiting("p", "x"), child("c", "p", "y", "z"), row("z"))
    assert tasks["c"].needs == ("z", "x")
    assert not tasks["c"].deferred


def test_to_need_an_epic_is_to_need_what_is_left_of_it_all_the_way_down():
    rows = [row("e", issue_type="epic"), child("f", "e", issue_type="epic"), child("a", "e", status="closed")]
    rows += [child("b", "e"), child("c", "f"), waiting("after", "e")]
    tasks = task_by_id(*rows)
    assert sorted(tasks["after"].needs) == ["b", "c"]
    assert "e" not in tasks


def test_a_wait_that_needs_cannot_say_holds_the_task_with_its_reason():
    rows = [
        row("x"),
        row("mine", status="in_progress", assignee="ann"),
        row("e", issue_type="epic"),
        waiting("a", depends("x", "conditional-blocks")),
        waiting("b", "mine"),
        waiting("c", "e"),
        row("d", defer_until="2100-01-01T00:00:00Z"),
    ]
    found = tasks_of(backlog(*rows), NOW)
    assert {task.id for task in found.tasks if task.deferred} == {"a", "b", "c", "d"}
    assert found.held["b"] == "waits for mine to be closed; it is in_progress"
    assert found.held["d"] == "is deferred until 2100-01-01T00:00:00Z"


def test_issues_in_a_circle_and_behind_it_are_held_and_the_scheduler_gets_no_circle():
    found = tasks_of(backlog(waiting("a", "b"), waiting("b", "a"), waiting("c", "b"), row("d")), NOW)
    assert set(found.held) == {"a", "b", "c"}
    assert find_cycle({task.id: task.needs for task in found.tasks}) is None


def test_what_a_run_has_claimed_is_still_its_task():
    rows = (
        row("a", status="in_progress", assignee="run-7"),
        row("b", status="in_progress", assignee="run-8"),
        waiting("c", "a"),
    )
    assert list(task_by_id(*rows, holder="run-7")) == ["a", "c"]
    assert task_by_id(*rows, holder="run-7")["c"].needs == ("a",)


def test_an_id_that_cannot_name_a_task_is_told():
    found = tasks_of(backlog(row("a b"), row("ok")), NOW)
    assert [task.id for task in found.tasks] == ["ok"]
    assert [problem.line for problem in found.problems] == [1]


def what_may_run(beads):
    return {task.id for task in tasks_of(beads, NOW).tasks if not task.needs and not task.deferred}


@each_sample
def test_in_a_real_backlog_the_tasks_that_may_run_are_the_runnable_issues(sample):
    beads = parse(sample.read_bytes(), sample.name)
    assert what_may_run(beads) == {issue.id for issue in runnable(beads, NOW)}


@pytest.mark.parametrize("seed", range(30))
def test_in_any_tangle_the_tasks_that_may_run_are_the_runnable_issues(seed):
    rng = random.Random(seed)
    ids = [f"i{n}" for n in range(30)]
    sorts = ["blocks"] * 4 + ["parent-child"] * 4 + ["waits-for", "conditional-blocks", "related"]
    statuses = ["open"] * 6 + ["closed"] * 3 + ["in_progress", "pinned", "deferred", "odd", "tombstone"]
    rows = [
        waiting(
            id,
            *(depends(rng.choice(ids), rng.choice(sorts)) for _ in range(rng.choice([0, 0, 1, 1, 2]))),
            status=rng.choice(statuses),
            issue_type=rng.choice(["task", "task", "bug", "epic", "gate"]),
            defer_until=rng.choice([...] * 8 + ["2100-01-01T00:00:00Z"]),
        )
        for id in ids
    ]
    beads = backlog(*rows)
    assert what_may_run(beads) == {issue.id for issue in runnable(beads, NOW)}


def test_words_of_ones_own_make_the_kinds():
    table = table_of({"audit": ["security", "audit"], "text": ["docs"]}, otherwise="chores")
    assert kind_of(Issue("a", labels=("docs",)), table) == "text"
    assert kind_of(Issue("a", title="Look into security"), table) == "audit"
    assert kind_of(Issue("a", title="Fix the code"), table) == "chores"
    assert kind_of(Issue("a", title="Fix the docs"), table_of({})) == kind_of(Issue("a", title="Fix the docs"))
