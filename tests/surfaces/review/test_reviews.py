"""The story of a run from its journal: complete, in order, with reasons, and fit to be shown to anyone."""

import re
import time

import msgspec
import pytest

from helpers import Player, a_host, a_task
from manyhands.core import events as ev
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.host import Family, Prices, Route, Width
from manyhands.surfaces.review.review_building import DECISIONS_MAX, review_of
from manyhands.surfaces.review.review_markdown import as_markdown
from manyhands.surfaces.review.review_page import as_page
from manyhands.surfaces.review.review_types import TaskTreeNode
from manyhands.surfaces.review.task_tree import tree_lines, tree_of
from surfaces.cli.console import Console, sh, shell_host

FAILED = Ending(EndingKind.FAILED, "exit code 3", tail="<script>alert(1)</script>\nno such file", exit_code=3)


def a_story() -> Player:
    player = Player(a_host("gpu", 2))
    player.open(
        a_task("good", parent="epic", title="The good one"),
        a_task("bad", parent="epic", attempts=2),
        a_task("after", needs=("bad",)),
        a_task("off", deferred="after the release"),
    )
    player.end("bad", ending=FAILED)
    player.wait(60.0)
    player.end("bad", ending=FAILED)
    player.end("good")
    player.play(ev.HostPaused(player.at, "gpu", "too hot"))
    return player


def test_a_review_tells_goal_outcome_decisions_questions_and_what_to_do_next() -> None:
    player = a_story()
    review = review_of(player.journal, "r", player.at)
    assert review is not None
    assert (review.goal.tasks, review.goal.by_kind) == (4, {"code": 4})
    assert review.outcome.counts == {"deferred": 1, "done": 1, "failed": 1, "skipped": 1}
    assert review.outcome.endings == {"failed": 2, "done": 1}
    assert review.outcome.headline == "unfinished: 1 of 4 tasks are done, 2 are not, 1 is left"
    assert (review.outcome.peak, review.outcome.hosts[0].attempts, review.outcome.hosts[0].peak) == (2, 3, 2)
    assert [(one.what, one.who, one.why) for one in review.decisions] == [
        ("retry", "bad", "exit code 3"),
        ("paused", "gpu", "too hot"),
    ]
    assert [(one.what, one.task) for one in review.questions] == [
        ("failed", "bad"),
        ("deferred", "off"),
        ("skipped", "after"),
    ]
    assert [step.split("`")[1] for step in review.next_steps] == [
        "manyhands host resume gpu",
        "manyhands task retry bad",
        "manyhands task resume off",
    ]
    assert tree_lines(review.tree)[:2] == ["epic  failed 1/2", "  good  done  The good one"]


def test_undeclared_writes_and_lost_attempts_are_open_questions() -> None:
    player = Player(a_host("local", 1))
    player.open(a_task("a"))
    player.end("a", ending=Ending(EndingKind.LOST, "the dispatcher died under it"))
    player.end("a")
    review = review_of(player.journal, "r", player.at, lambda task, n: ["secret.py", f"{n}.py"])
    assert review is not None
    assert [(one.what, one.why) for one in review.questions] == [
        ("undeclared writes", "secret.py, 1.py, 2.py"),
        ("lost", "attempt 1: the dispatcher died under it"),
    ]
    assert review.outcome.headline == "the task is done"


def test_what_tasks_say_stays_text_in_the_page() -> None:
    player = a_story()
    review = review_of(player.journal, "r", player.at)
    assert review is not None
    page = as_page(review)
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "no such file" in as_markdown(review)
    assert msgspec.json.decode(msgspec.json.encode(review), type=type(review)) == review


def test_the_page_has_every_colour_it_speaks_of() -> None:
    player = a_story()
    review = review_of(player.journal, "r", player.at)
    assert review is not None
    page = as_page(review)
    assert set(re.findall(r"var\((--[\w-]+)\)", page)) <= set(re.findall(r"(--[\w-]+)\s*:", page))
    assert "prefers-color-scheme: dark" in page


def test_text_cannot_break_out_of_its_place_in_the_markdown() -> None:
    player = Player(a_host("local", 1))
    player.open(a_task("a", attempts=1))
    player.end("a", ending=Ending(EndingKind.FAILED, "first\n# second <img src=x>", tail="```\n# not a heading\n````"))
    review = review_of(player.journal, "r", player.at)
    assert review is not None
    text = as_markdown(review)
    assert "first # second &lt;img" in text
    assert "  `````\n  ```\n  # not a heading\n  ````\n  `````" in text


def test_epics_as_deep_as_a_chain_are_told_flat_and_circles_have_no_top() -> None:
    player = Player(a_host("local", 1))
    player.open(
        *(a_task(f"t{n}", parent=f"t{n - 1}" if n else "") for n in range(1500)),
        a_task("x", parent="y"),
        a_task("y", parent="x"),
        a_task("z", parent="y"),
    )
    player.end("t0", ending=Ending(EndingKind.DONE, tokens_in=5, cost=0.5))
    review = review_of(player.journal, "r", player.at)
    assert review is not None
    assert [(root.id, root.total) for root in review.tree] == [("t0", 1500), ("x", 1), ("y", 2)]
    assert (review.tree[0].tokens, review.tree[0].spent_s, review.tree[0].cost) == (5, 1.0, 0.5)
    assert msgspec.json.encode(review).count(b'"id":') == 1503
    assert "t1499" in as_page(review)


def test_what_it_cost_is_told_in_all_where_it_was_spent_and_of_what_is_left_to_look_at() -> None:
    player = Player(a_host("model", 2, prices=Prices(tokens_out=1.0)), a_host("local", 1, kinds=("plain",)))
    player.open(a_task("good"), a_task("bad", attempts=1), a_task("plain", kind="plain"))
    player.end("good", ending=Ending(EndingKind.DONE, tokens_out=2_000_000))
    player.end("bad", ending=Ending(EndingKind.FAILED, "exit 1", tokens_out=40_000))
    player.end("plain")
    review = review_of(player.journal, "r", player.at)
    assert review is not None
    assert review.outcome.cost == pytest.approx(2.04)
    assert {share.host: share.cost for share in review.outcome.hosts} == {"model": pytest.approx(2.04), "local": None}
    assert review.questions[0].cost.endswith("40,000 tokens, cost 0.0400")
    text = as_markdown(review)
    assert "- cost: 2.04\n" in text
    assert text.count("cost 2.04") == 1, "of the one host that has prices"
    assert "<dt>cost</dt><dd>2.04</dd>" in as_page(review)


def test_results_that_no_sink_would_have_are_open_questions() -> None:
    player = Player()
    route = Route("search", ("crm",))
    player.play(ev.HostsConfigured(player.at, (a_host("local", 1),), routes=(route,)))
    player.open(a_task("a", app="search"))
    player.end("a")
    player.play(ev.DeliveryGivenUp(player.at, 1, "HTTP 400", 1))
    review = review_of(player.journal, "r", player.at)
    assert review is not None
    assert [(one.what, one.why) for one in review.questions] == [("not delivered", "to crm: HTTP 400")]
    assert review.next_steps == ["1 result was not delivered: `manyhands route resend --all` once the sink is fixed"]


def test_many_decisions_are_cut_with_a_word_about_it() -> None:
    player = Player(a_host("local", 4).__class__("local", width=Width(1, 1, 64)))
    player.open(a_task("a"))
    moves = [ev.WidthMoved(float(n), "local", n + 1, n, "a clean window") for n in range(1, 2 * DECISIONS_MAX)]
    review = review_of([*player.journal, *moves], "r", player.at)
    assert review is not None
    assert len(review.decisions) == DECISIONS_MAX
    assert f"{DECISIONS_MAX:,} of {review.decisions_total:,} shown" in as_markdown(review)


def test_the_command_tells_the_newest_run_or_the_one_that_is_named(console: Console) -> None:
    console.config(shell_host(2))
    console.plan([sh("a", "echo key=hunter2hunter2; exit 3", attempts=1), sh("b", "exit 0")])
    console.run("run", "plan.jsonl")
    told = console.run("review")
    assert told.code == 0
    assert told.out.startswith("# Run plan-1: 1 of 2 tasks are done, 1 is not")
    assert "hunter2" not in told.out, "secrets are left out"
    assert console.run("review", "plan-1", "-o", "json").json["questions"][0]["task"] == "a"
    assert "<h1>plan-1</h1>" in console.run("review", "-o", "html").out
    assert "there is no run `plan-9`" in console.run("review", "plan-9").err
    assert console.run("task", "tree").out.splitlines() == ["a  failed", "b  done"]
    assert time.strftime("%Y-%m-%d") in told.out


def test_the_steps_of_a_family_are_not_counted_as_its_members() -> None:
    steps = {step: (step,) for step in ("snapshot", "disrupt", "healthy", "revert")}
    player = Player(a_host("local", 4))
    player.play(ev.HostsConfigured(player.at, (a_host("local", 4),), (), (Family("kernel", "local", **steps),)))
    player.open(*(a_task(id, family="kernel", check=("check",), parent="epic") for id in ("a", "b")))
    while player.book.running:
        player.end(*player.running)
    records = player.book.runs["r"].records
    assert len(records) > 6, "the steps are tasks of the run too"
    roots = tree_of(records)
    assert sum(root.total for root in roots) == 2
    assert sum(root.done for root in roots) == 2
    assert tree_lines(roots)[0] == "epic  done 2/2"


def test_a_parent_that_counts_nothing_shows_no_progress() -> None:
    steps = [TaskTreeNode("step", "", "done", (), 0, 0, [])]
    assert tree_lines([TaskTreeNode("k", "", "done", (), 0, 0, steps)])[0] == "k  done"
