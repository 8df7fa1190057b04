"""Files of other tools, as these wrote them: inspect-ai 0.3.285 (both formats) and promptfoo 0.121.20."""

import json
import shutil
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import msgspec
import pytest

from apps.evals.reports.eventful import eventful
from manyhands.apps.evals.exchange import read_results, write_inspect_logs
from manyhands.apps.evals.exchange.inspect_reading import number_of
from manyhands.apps.evals.figures import LiftQuestion, compare
from manyhands.apps.evals.figures.figure_values import Lift
from manyhands.apps.evals.reports import html, terminal
from manyhands.errors import UsageError

FILES = Path(__file__).parent / "files"
QUICK = LiftQuestion(resamples=199)


def figures(lift: Lift) -> object:
    return lift.scorer, lift.arm, lift.null, lift.estimate, lift.left_out, lift.cases


def test_logs_of_inspect_ai_are_compared_in_either_format() -> None:
    record = read_results([FILES / "inspect-a.json", FILES / "inspect-b.eval"])
    assert [arm.name for arm in record.spec.arms] == ["mockllm/a", "mockllm/b"]
    assert [case.name for case in record.spec.cases] == ["q0", "q1", "q2", "q3"]
    assert [scorer.name for scorer in record.spec.scorers] == ["match", "pieces/length", "pieces/short"]
    assert (record.spec.replications, len(record.outcomes)) == (3, 24)
    answered = [
        [one.scores["match"] for one in record.outcomes if (one.arm, one.case) == ("mockllm/a", case.name)]
        for case in record.spec.cases
    ]
    assert answered == [[1, 1, 0], [1, 0, 1], [0, 0, 1], [1, 0, 0]]
    comparison = compare(record, QUICK)
    assert [lift.estimate.mean for lift in comparison.lifts if lift.estimate] == pytest.approx([1 / 3, 0, 0])
    assert comparison.lifts[0].unit == "cluster"
    assert any("did not alternate" in mark.text for mark in comparison.marks)
    assert "mockllm/b" in terminal(record, comparison)
    assert "<svg" in html(record, comparison)


def test_results_of_promptfoo_have_an_arm_for_each_provider_and_repeats_are_replications() -> None:
    record = read_results([FILES / "promptfoo.json"])
    assert record.spec.name == "doubling"
    assert [arm.name for arm in record.spec.arms] == ["plain", "careful"]
    assert [case.name for case in record.spec.cases] == ["1", "2", "three", "4", "5", "6"]
    assert [scorer.name for scorer in record.spec.scorers] == ["passed", "right"]
    assert record.spec.replications == 2
    comparison = compare(record, QUICK)
    by_scorer = {lift.scorer: lift for lift in comparison.lifts}
    # Of six cases one broke in one arm and counts in neither, two are better, three as before.
    for lift in by_scorer.values():
        assert [case.lift for case in lift.cases] == [1, 1, 0, 0, 0]
        assert lift.left_out.infrastructure == 2
    assert any("ran before" in mark.text for mark in comparison.marks)  # promptfoo never swaps the order
    assert [arm.tokens_out for arm in comparison.arms] == [24, 20]
    assert comparison.arms[0].cost == pytest.approx(0.012)


def test_another_arm_can_be_the_baseline_and_a_misspelt_one_is_named() -> None:
    record = read_results([FILES / "promptfoo.json"], baseline="careful")
    assert compare(record, QUICK).lifts[0].arm == "plain"
    with pytest.raises(UsageError, match="no arm `carful`") as refused:
        read_results([FILES / "promptfoo.json"], baseline="carful")
    assert refused.value.hint == "arms: plain, careful"


def test_prompts_are_arms_where_promptfoo_compared_prompts(tmp_path: Path) -> None:
    content = json.loads((FILES / "promptfoo.json").read_bytes())
    for row in content["results"]["results"]:
        row["provider"] = {"id": "openai:x"}
        row["prompt"] = {"label": f"prompt {row['promptIdx']}"}
    (tmp_path / "prompts.json").write_text(json.dumps(content))
    assert [arm.name for arm in read_results([tmp_path / "prompts.json"]).spec.arms] == ["prompt 0", "prompt 1"]


def test_logs_of_the_same_model_are_told_apart_by_their_files(tmp_path: Path) -> None:
    for name in ("before", "after"):
        shutil.copy(FILES / "inspect-a.json", tmp_path / f"{name}.json")
    record = read_results([tmp_path / "before.json", tmp_path / "after.json"])
    assert [arm.name for arm in record.spec.arms] == ["before", "after"]


def test_a_sample_that_broke_or_was_invalidated_counts_in_no_arm(tmp_path: Path) -> None:
    content = json.loads((FILES / "inspect-a.json").read_bytes())
    by_key = {(sample["id"], sample["epoch"]): sample for sample in content["samples"]}
    by_key["q0", 1] |= {"error": {"message": "429", "traceback": "", "traceback_ansi": ""}, "scores": {}}
    by_key["q1", 1]["invalidation"] = {"author": "me", "reason": "leaked"}
    by_key["q2", 1]["limit"] = {"type": "time", "limit": 10}
    by_key["q3", 1]["scores"]["match"]["value"] = float("nan")
    by_key["q3", 2]["scores"]["match"]["value"] = "maybe"
    (tmp_path / "broken.json").write_text(json.dumps(content))
    record = read_results([tmp_path / "broken.json", FILES / "inspect-b.eval"])
    comparison = compare(record, QUICK)
    left_out = comparison.lifts[0].left_out
    assert (left_out.infrastructure, left_out.tainted, left_out.not_applicable, left_out.scorer_error) == (1, 1, 1, 1)
    assert comparison.arms[0].timed_out == 1


@pytest.mark.parametrize(
    ("value", "number"),
    [("C", 1), ("I", 0), ("P", 0.5), ("N", 0), (True, 1), (3, 3), ("0.25", 0.25), ("yes", 1), ("No", 0), ("inf", None)],
)
def test_grades_are_numbers_as_inspect_ai_has_them(value: object, number: float | None) -> None:
    assert number_of(value) == number


@pytest.mark.parametrize("value", ["maybe", float("nan"), [1, 2], None])
def test_what_is_no_grade_is_no_number(value: object) -> None:
    assert number_of(value) is None


def test_an_eval_survives_the_way_to_inspect_ai_and_back(tmp_path: Path) -> None:
    record = eventful()
    written = write_inspect_logs(record, tmp_path)
    assert [path.suffix for path in written] == [".json"] * 3
    back = read_results(written)
    assert back.spec.interleave
    assert [arm.name for arm in back.spec.arms] == [arm.name for arm in record.spec.arms]
    before, after = compare(record, QUICK), compare(back, QUICK)
    assert [figures(lift) for lift in after.lifts] == [figures(lift) for lift in before.lifts]
    assert [(arm.tokens_in, arm.cost, arm.tainted, arm.timed_out) for arm in after.arms] == [
        (arm.tokens_in, pytest.approx(arm.cost), arm.tainted, arm.timed_out) for arm in before.arms
    ]


@pytest.mark.skipif(find_spec("inspect_ai") is None, reason="inspect-ai is not installed (it is too heavy for `[dev]`)")
def test_inspect_ai_itself_reads_what_is_written(tmp_path: Path) -> None:
    written = write_inspect_logs(eventful(), tmp_path)
    script = (
        "import sys; from inspect_ai.log import read_eval_log\n"
        "for path in sys.argv[1:]:\n"
        "    log = read_eval_log(path)\n"
        "    print(log.status, len(log.samples), len(log.results.scores))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, written)], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.splitlines() == ["success 80 2"] * 3


def test_a_log_that_was_written_holds_no_environment_and_no_command(tmp_path: Path) -> None:
    record = eventful(cases=2)
    secret = {"env": {"KEY": "hunter2"}, "run": ("agent", "sesame")}
    arms = tuple(msgspec.structs.replace(arm, **secret) for arm in record.spec.arms)
    record = msgspec.structs.replace(record, spec=msgspec.structs.replace(record.spec, arms=arms))
    said = "".join(path.read_text() for path in write_inspect_logs(record, tmp_path))
    assert "hunter2" not in said
    assert "sesame" not in said


def a_file(tmp_path: Path, name: str, content: bytes) -> Path:
    (tmp_path / name).write_bytes(content)
    return tmp_path / name


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.json", b"{", "a.json` is not JSON"),
        ("a.json", b"[]", "not a result file of a known tool"),
        ("a.json", b'{"eval": {}, "samples": []}', "has no samples"),
        ("a.json", b'{"eval": {}, "samples": [{}]}', "is not an Inspect AI log that can be read: KeyError"),
        ("a.json", b'{"results": {"results": []}}', "has no results"),
        ("a.json", b'{"results": {"results": [3]}}', "is not a promptfoo result file that can be read"),
        ("a.eval", b"no zip", "is not an Inspect AI log"),
    ],
)
def test_a_file_that_is_not_what_it_should_be_is_named(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_results([a_file(tmp_path, name, content)])


def test_a_missing_file_a_log_without_header_and_one_given_twice_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        read_results([tmp_path / "none.json"])
    with pytest.raises(UsageError, match="No such file"):
        read_results([tmp_path / "none.eval"])
    with zipfile.ZipFile(tmp_path / "early.eval", "w") as archive:
        archive.writestr("_journal/start.json", "{}")
    with pytest.raises(UsageError, match="was not finished"):
        read_results([tmp_path / "early.eval"])
    with pytest.raises(UsageError, match="the same arm"):
        read_results([FILES / "promptfoo.json", FILES / "promptfoo.json"])
