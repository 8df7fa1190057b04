"""Reviews of a part of a run, and of all runs that were at work in a period."""

import json
from collections.abc import Iterable

import pytest

from helpers import Player, a_host, a_task
from manyhands.core.values.about import About, RunAbout
from manyhands.core.values.ending import Ending, EndingKind, Note, NoteKind
from manyhands.errors import UsageError
from manyhands.surfaces.review.review_building import review_of, reviews_of
from manyhands.surfaces.review.review_markdown import as_markdown
from manyhands.surfaces.review.review_page import as_page
from manyhands.surfaces.review.review_types import PeriodReview, Review
from manyhands.surfaces.verbs.review_verbs import moment_of
from surfaces.cli.console import Console, sh, shell_host

FAILED = Ending(EndingKind.FAILED, "exit code 3", notes=(Note(NoteKind.LESSON, "it needs <codegen>"),))
ABOUT = RunAbout("Shop", "It sells", "", {"auth": About("Sign in", "People can sign in")})


def two_epics() -> Player:
    player = Player(a_host("gpu", 4))
    player.open(about=ABOUT)
    player.add(
        a_task("auth", attempts=2),
        a_task("form", parent="auth", attempts=1),
        a_task("field", parent="form", attempts=1),
        a_task("cart", parent="trade", attempts=2),
    )
    player.end("form", after_s=10.0)
    player.end("field", ending=FAILED, after_s=10.0)
    player.end("cart", ending=FAILED, after_s=10.0)
    player.end("auth", ending=FAILED, after_s=10.0)
    player.wait(60.0)
    player.end("auth")
    return player


def review(player: Player, epic: str) -> Review:
    found = review_of(player.journal, "r", player.at, epic=epic)
    assert found is not None
    return found


def test_the_review_of_an_epic_tells_only_of_what_is_below_it() -> None:
    player = two_epics()
    told = review(player, "auth")
    assert (told.goal.tasks, told.goal.about) == (3, About("Sign in", "People can sign in"))
    assert told.outcome.counts == {"done": 2, "failed": 1}
    assert told.outcome.headline == "2 of 3 tasks are done, 1 is not", "it has ended, though the run has not"
    assert told.outcome.peak == 3
    assert [one.who for one in told.decisions] == ["auth"]
    assert [one.task for one in told.questions] == ["field"]
    assert "cart" not in as_markdown(told)
    assert as_markdown(told).startswith("# Epic auth of run r: 2 of 3 tasks")
    assert "epic auth of run r" in as_page(told)


def test_the_epics_of_a_run_tell_all_of_it_together() -> None:
    player = two_epics()
    whole, parts = review(player, ""), [review(player, epic) for epic in ("auth", "trade")]
    for state in whole.outcome.counts:
        assert sum(part.outcome.counts.get(state, 0) for part in parts) == whole.outcome.counts[state]
    assert sum(part.decisions_total for part in parts) == whole.decisions_total
    assert sum(part.questions_total for part in parts) == whole.questions_total


def segments(player: Player, since: float, until: float, names: Iterable[str] = ("r",)) -> list[Review]:
    before = (event for event in player.journal if event.at <= until)
    return reviews_of(before, names, until, lambda run: lambda task, number: [], since)


def test_a_period_has_the_state_at_its_end_and_what_was_decided_and_noted_in_it() -> None:
    player = two_epics()
    [early] = segments(player, 0.0, 15.0)
    assert early.outcome.counts == {"done": 1, "running": 3}
    [late] = segments(player, 35.0, player.at)
    assert [one.who for one in late.decisions] == ["auth"], "the retry of cart was decided before"
    assert [(note.text, note.times) for note in late.notes] == [("it needs <codegen>", 3)]


def test_each_run_of_a_period_is_a_segment_with_all_its_parts() -> None:
    player = two_epics()
    player.open(a_task("more"), run="second")
    player.end("more")
    period = PeriodReview(0.0, player.at, segments(player, 0.0, player.at, ("second", "r")), 3)
    text = as_markdown(period)
    titles = [line for line in text.splitlines() if line.startswith("## ")]
    assert titles == ["## Run second: the task is done", f"## Run r: {period.segments[1].outcome.headline}"]
    for part in ("Goal", "Outcome", "Next steps", "Key decisions", "Open questions"):
        assert text.count(f"\n### {part}") == 2
    assert "3 runs, the newest 2 of them" in text.splitlines()[0]
    page = as_page(period)
    assert page.count("<h2>Goal</h2>") == 2
    assert "<codegen>" not in page


def test_when_a_period_begins() -> None:
    assert moment_of("since", "7d", 1_000_000.0) == 1_000_000.0 - 7 * 86_400
    assert moment_of("since", "2026-11-12T00:00+00:00", 0.0) == 1_794_441_600.0
    with pytest.raises(UsageError, match="`since` must be a length of time or a date, got `soon`"):
        moment_of("since", "soon", 0.0)


def test_the_command_tells_of_a_period_and_of_an_epic(console: Console) -> None:
    console.config(shell_host(1))
    console.plan([sh("a", "true", parent="epic"), sh("b", "true")])
    assert console.run("run", "plan.jsonl").code == 0
    console.plan([sh("c", "true")], "other.jsonl")
    assert console.run("run", "other.jsonl").code == 0
    told = json.loads(console.run("review", "--since", "1d", "-o", "json").out)
    assert [segment["run"] for segment in told["segments"]] == ["other-1", "plan-1"]
    assert "<h2>Outcome</h2>" in console.run("review", "--since", "1d", "-o", "html").out
    assert "# Epic epic of run plan-1: the task is done" in console.run("review", "plan-1", "--epic", "epic").out
    for wrong, words in (
        (("plan-1", "--epic", "nothing"), "has no task or parent `nothing`"),
        (("plan-1", "--since", "1d"), "one run or of a period"),
        (("--until", "1d"), "`since` begins it"),
        (("--since", "1d", "--until", "2d"), "ends before it begins"),
    ):
        done = console.run("review", *wrong)
        assert (done.code, words in done.err) == (2, True), done.err
    assert console.run("review", "--since", "20d", "--until", "10d").out.count("## Run") == 0
