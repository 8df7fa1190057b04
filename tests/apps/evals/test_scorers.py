"""What each scorer makes of what a trial left; one that breaks loses its own score and no other."""

import json
from pathlib import Path

import pytest

from apps.evals.specs import evaluated, written
from manyhands.apps.evals.scoring import scoring_tasks
from manyhands.apps.evals.scoring.artefacts import Artefacts, TrialScore, look
from manyhands.apps.evals.scoring.pairwise import win_of
from manyhands.apps.evals.scoring.unit_tests import UnitTestCounts, from_junit, from_output
from manyhands.apps.evals.spec.eval_types import Case, Scorer
from manyhands.apps.evals.spec.json_path import BadJsonPath, parse_json_path
from manyhands.core.values.ending import Ending, EndingKind
from surfaces.cli.console import Console


def left(tmp_path: Path, output: str = "", expect: object = None, **files: str) -> Artefacts:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    return Artefacts(tmp_path, output, Case("c", expect=expect), done=True)


@pytest.mark.parametrize(
    ("scorer", "output", "expect", "score"),
    [
        (Scorer("s", "done"), "", None, 1.0),
        (Scorer("s", "file", file="answer"), "", None, 1.0),
        (Scorer("s", "file", file="other"), "", None, 0.0),
        (Scorer("s", "contains", text="lo w"), "hello world", None, 1.0),
        (Scorer("s", "contains"), "hello world", "Hello", 0.0),
        (Scorer("s", "contains", file="answer", text="forty"), "", None, 1.0),
        (Scorer("s", "contains", file="none", text="forty"), "", None, 0.0),
        (Scorer("s", "regex", pattern="^wor"), "hello\nworld", None, 1.0),
        (Scorer("s", "regex", pattern="score: (?P<score>[0-9.]+)"), "score: 0.75", None, 0.75),
        (Scorer("s", "regex", pattern="score: (?P<score>.*)"), "none", None, 0.0),
        (Scorer("s", "json", path="$.a[1].b"), '{"a": [0, {"b": 0.5}]}', None, 0.5),
        (Scorer("s", "json", path="a"), '{"a": true}', None, 1.0),
        (Scorer("s", "json", path="a", equals="x"), '{"a": "x"}', None, 1.0),
        (Scorer("s", "json", path="a"), '{"a": "x"}', "y", 0.0),
        (Scorer("s", "json", path="a"), "no json", None, 0.0),
        (Scorer("s", "json", path="a.b"), '{"a": 1}', None, 0.0),
    ],
)
def test_a_look_scores(tmp_path: Path, scorer: Scorer, output: str, expect: object, score: float) -> None:
    assert look(scorer, left(tmp_path, output, expect, answer="forty-two")) == TrialScore(score)


@pytest.mark.parametrize(
    ("scorer", "output"),
    [
        (Scorer("s", "regex", pattern="(?P<score>.*)"), "many"),
        (Scorer("s", "json", path="a"), '{"a": "x"}'),
    ],
)
def test_what_means_nothing_is_no_score_and_says_why(tmp_path: Path, scorer: Scorer, output: str) -> None:
    score = look(scorer, left(tmp_path, output))
    assert score.value is None
    assert "is not a number" in score.error


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("...\n===== 3 passed, 1 failed, 2 skipped in 0.12s =====", UnitTestCounts(3, 4)),
        ("4 passed in 1.00s", UnitTestCounts(4, 4)),
        ("2 errors in 0.1s", UnitTestCounts(0, 2)),
        ("Ran 5 tests in 0.001s\n\nFAILED (failures=1, errors=2)", UnitTestCounts(2, 5)),
        ("Ran 5 tests in 0.001s\n\nOK", UnitTestCounts(5, 5)),
        ("nothing of the sort", None),
    ],
)
def test_the_count_of_tests_is_read_from_what_they_print(text: str, counts: UnitTestCounts | None) -> None:
    assert from_output(text) == counts


def test_the_count_of_tests_is_read_from_a_junit_file(tmp_path: Path) -> None:
    cases = "<testcase/><testcase><failure/></testcase><testcase><skipped/></testcase><testcase><error/></testcase>"
    (tmp_path / "junit.xml").write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
    assert from_junit(tmp_path / "junit.xml") == UnitTestCounts(1, 3)
    (tmp_path / "cut.xml").write_text("<testsuites><testsuite>")
    assert from_junit(tmp_path / "cut.xml") is None
    assert from_junit(tmp_path / "none.xml") is None


def test_a_verdict_is_the_last_one_given() -> None:
    assert win_of("If so, Verdict: 2 it were. But no.\n**Verdict: 1**", 1) == 1.0
    assert win_of("Verdict: tie", 2) == 0.5
    assert win_of("I cannot say", 1) is None


@pytest.mark.parametrize(
    ("first", "second", "score"),
    [("1", "2", 1.0), ("2", "1", 0.0), ("1", "1", 0.5), ("tie", "2", 0.75)],
)
def test_a_judge_that_always_prefers_the_first_answer_says_nothing(first: str, second: str, score: float) -> None:
    said = {
        place: Ending(EndingKind.DONE, result=f"Verdict: {verdict}") for place, verdict in ((1, first), (2, second))
    }
    assert scoring_tasks.grading_score(said) == TrialScore(score)


def test_a_judge_that_gives_no_verdict_gives_no_score() -> None:
    said = {1: Ending(EndingKind.DONE, result="Verdict: 1"), 2: Ending(EndingKind.DONE, result="hm")}
    assert scoring_tasks.grading_score(said).value is None


def test_a_path_that_cannot_be_read_is_said() -> None:
    assert parse_json_path("$.a[0]['b c'].d-e") == ["a", 0, "b c", "d-e"]
    with pytest.raises(BadJsonPath):
        parse_json_path("a..b")


SCORERS = """
[[scorer]]
name = "raises"
type = "python"
call = "my_scorers:raises"
[[scorer]]
name = "counts"
type = "python"
call = "my_scorers:counts"
[[scorer]]
name = "not-applicable"
type = "python"
call = "my_scorers:nothing"
[[scorer]]
name = "tests"
type = "tests"
run = ["sh", "-c", "echo '<testsuite><testcase/></testsuite>' > junit.xml"]
file = "junit.xml"
[[scorer]]
name = "fails"
type = "command"
run = ["sh", "-c", "exit 4"]
[[scorer]]
name = "killed"
type = "command"
run = ["sh", "-c", "kill -9 $$"]
[[scorer]]
name = "late"
type = "command"
run = ["sleep", "60"]
timeout = "1s"
"""
FUNCTIONS = """
from pathlib import Path

def raises(workspace, output, case, expect):
    raise RuntimeError("no idea")

def counts(workspace, output, case, expect):
    return len(Path(workspace, "answer.txt").read_text().split())

def nothing(**_):
    return None
"""


async def test_a_scorer_that_breaks_in_mid_run_loses_that_score_only_and_says_so(console: Console) -> None:
    console.write("my_scorers.py", FUNCTIONS)
    written(console, cases=1, replications=1, sessions=2, scorers=SCORERS)
    record = await evaluated(console, concurrency=2)
    for outcome in record.outcomes:
        assert outcome.state == "scored"
        assert outcome.scores == {
            "raises": None,
            "counts": 2.0,
            "not-applicable": None,
            "tests": 1.0,
            "fails": 0.0,
            "killed": None,
            "late": 0.0,
        }
        assert set(outcome.score_errors) == {"raises", "killed"}
        assert "no idea" in outcome.score_errors["raises"]
    assert json.loads((console.store / "evals" / "e-1" / "record.json").read_bytes())["state"] == "finished"
