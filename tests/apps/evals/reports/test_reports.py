"""What the reports of an eventful eval say, and what they must never do."""

import json
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import msgspec
import pytest

from apps.evals.figures.known_world import a_record
from apps.evals.reports.eventful import eventful
from manyhands.apps.evals.figures import LiftQuestion, compare
from manyhands.apps.evals.reports import as_json, html, terminal
from manyhands.apps.evals.spec.eval_types import Arm, Case, EvalRecord

QUICK = LiftQuestion(resamples=199)
EVENTFUL = eventful()
COMPARISON = compare(EVENTFUL, QUICK)


class Elements(HTMLParser):
    """Names of all elements, and the values of attributes that could fetch something."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.fetched: list[str] = []
        self.handlers: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.fetched += [
            value or "" for name, value in attrs if name in ("src", "href", "xlink:href", "data", "action")
        ]
        self.handlers += [name for name, _ in attrs if name.startswith("on")]


def pictures(page: str) -> list[ElementTree.Element]:
    return [ElementTree.fromstring(found) for found in re.findall(r"<svg.*?</svg>", page, re.DOTALL)]


@pytest.mark.parametrize("report", [terminal, html], ids=["table", "page"])
def test_a_report_says_what_a_reader_must_know(report: object) -> None:
    said = report(EVENTFUL, COMPARISON)  # type: ignore[operator]
    for expected in (
        "careful 1",  # tainted
        "quarantined",
        "context was injected at 12:04",
        "5 × 429",
        "FileNotFoundError: answer.py (1",
        "plain 32, careful 25, plain-again 23",  # who went first
        "found by doubling",
        "p95 is 1.61",
        "4 trials at once",
        "8 clusters",
        "repeats",
    ):
        assert expected in re.sub(r"\s+", " ", said), expected


@pytest.mark.parametrize("report", [terminal, html, as_json], ids=["table", "page", "json"])
def test_a_report_of_blocks_says_what_they_cost(report: object) -> None:
    record = eventful(cases=4, interleave=False)
    said = re.sub(r"\s+", " ", report(record, compare(record, QUICK)))  # type: ignore[operator]
    assert "50 % false positives" in said


def test_the_table_has_every_lift_and_no_line_that_moves_the_cursor() -> None:
    said = terminal(EVENTFUL, COMPARISON)
    assert said.endswith("\n")
    assert len(re.findall(r"^tests +careful ", said, re.MULTILINE)) == 1
    assert "plain-again (null)" in said
    odd = msgspec.structs.replace(
        EVENTFUL.outcomes[0], score_errors={"tests": "\x1b[2Jgone\r"}, scores={"tests": None, "lines": 1.0}
    )
    record = msgspec.structs.replace(EVENTFUL, outcomes=(odd, *EVENTFUL.outcomes[1:]))
    assert re.findall(r"[^\S \n]|[\x00-\x09\x0b-\x1f]", terminal(record, compare(record, QUICK))) == []


def test_the_json_has_all_figures_and_outcomes_and_nothing_that_could_be_secret() -> None:
    spec = msgspec.structs.replace(
        EVENTFUL.spec,
        arms=tuple(
            msgspec.structs.replace(arm, env={"KEY": "hunter2"}, prompt="hush {prompt}") for arm in EVENTFUL.spec.arms
        ),
    )
    said = as_json(msgspec.structs.replace(EVENTFUL, spec=spec), COMPARISON)
    assert "hunter2" not in said
    assert "hush" not in said
    found = json.loads(said)
    assert len(found["outcomes"]) == 240
    assert [start["arm"] for start in found["order"]] == [start.arm for start in EVENTFUL.order]
    assert found["concurrency"]["n"] == 4
    assert found["eval"]["went_first"] == {"plain": 32, "careful": 25, "plain-again": 23}
    (lift, *_) = found["comparison"]["lifts"]
    assert lift["estimate"]["interval"]["low"] < lift["estimate"]["mean"] < lift["estimate"]["interval"]["high"]
    assert len(lift["cases"]) == 16


def test_the_page_runs_nothing_and_fetches_nothing() -> None:
    page = html(EVENTFUL, COMPARISON)
    elements = Elements(page)
    assert {"script", "link", "img", "iframe", "object", "embed", "base"}.isdisjoint(elements.names)
    assert elements.fetched == []
    assert elements.handlers == []
    assert "://" not in page
    assert "default-src 'none'" in page
    assert "prefers-color-scheme: dark" in page


def test_the_pictures_are_whole_and_have_a_mark_for_every_case_and_session() -> None:
    page = html(EVENTFUL, COMPARISON)
    drawn = {picture.get("aria-label") or "": picture for picture in pictures(page)}
    assert {
        "Lift of careful over plain by tests, case by case",
        "When each session ran, by arm",
        "Scores by tests by arm",
        "Seconds a trial took by arm",
        "Tokens in and out",
        "Cost",
    } <= set(drawn)
    lifts = drawn["Lift of careful over plain by tests, case by case"]
    assert len(lifts.findall(".//circle")) == 1 + 16
    sessions = drawn["When each session ran, by arm"]
    assert len(sessions.findall(".//rect")) == 240
    assert len([one for one in sessions.findall(".//rect") if "tainted" in (one.get("class") or "")]) == 1
    places = [float(one.get("cx") or "nan") for one in lifts.findall(".//circle")]
    assert all(190 <= place <= 670 for place in places)
    assert places[1:] == sorted(places[1:], reverse=True)  # the highest lift first


def test_names_cannot_break_out_of_the_page() -> None:
    evil = "<script>alert(1)</script>\"'&"
    record = a_record({"a": [[0.0, 1.0]] * 6, evil: [[1.0, 1.0]] * 6})
    spec = msgspec.structs.replace(
        record.spec, name=evil, cases=tuple(Case(f"{evil}{at}") for at in range(6)), arms=(Arm("a"), Arm(evil))
    )
    outcomes = tuple(
        msgspec.structs.replace(one, case=f"{evil}{int(one.case[1:])}", tainted=one.replication == 1, why_tainted=evil)
        for one in record.outcomes
    )
    record = msgspec.structs.replace(record, spec=spec, outcomes=outcomes)
    page = html(record, compare(record, QUICK))
    assert "script" not in Elements(page).names
    assert pictures(page)


def nothing_ran() -> EvalRecord:
    record = a_record({"a": [[0.0]] * 2, "b": [[0.0]] * 2})
    outcomes = tuple(
        msgspec.structs.replace(one, state="missing", scores={}, sessions=(), position=0) for one in record.outcomes
    )
    return msgspec.structs.replace(record, outcomes=outcomes, order=(), state="aborted")


@pytest.mark.parametrize(
    "record",
    [
        nothing_ran(),
        a_record({"a": [[1.0]], "b": [[1.0]]}),
        a_record({"a": [[0.0] * 3] * 6, "b": [[0.0] * 3] * 6}),
        a_record({"alone": [[0.0, 1.0]] * 3}),
        a_record({"a": [[1e300, 2.0]] * 3, "b": [[-1e300, 1e-300]] * 3}),
        a_record({"a": [[1e99, 2.0]] * 3, "b": [[-1e99, 1e-99]] * 3}),
    ],
    ids=["nothing ran", "one pair", "all equal", "one arm", "unusable", "huge"],
)
def test_evals_with_little_to_tell_have_reports_all_the_same(record: EvalRecord) -> None:
    comparison = compare(record, QUICK)
    assert record.spec.name in terminal(record, comparison)
    assert "<main>" in html(record, comparison)
    assert "nan" not in re.sub(r"<style>.*?</style>", "", html(record, comparison)).lower()
    json.loads(as_json(record, comparison))


def test_many_cases_are_cut_in_the_picture_and_it_says_so() -> None:
    record = a_record({"a": [[0.0, at % 3] for at in range(90)], "b": [[1.0, at % 2] for at in range(90)]})
    page = html(record, compare(record, QUICK))
    assert "The 30 highest and 30 lowest of 90 cases" in page
    assert len(pictures(page)[0].findall(".//circle")) == 1 + 60


def test_confidence_sequences_are_in_the_reports_when_they_were_asked_for() -> None:
    comparison = compare(EVENTFUL, QUICK, sequential=True)
    assert [stop.scorer for stop in comparison.stops] == ["tests"]  # the other has no highest score
    for report in (terminal, html):
        assert "not decided after 8 clusters" in re.sub(r"\s+", " ", report(EVENTFUL, comparison))
        assert "valid at every look" not in report(EVENTFUL, COMPARISON)
