"""`manyhands eval report` and `export`, from what is kept of an eval."""

import json
from pathlib import Path

from msgspec.structs import replace

from apps.evals.reports.eventful import eventful
from manyhands.apps.evals.trial.eval_layout import EvalLayout, write_whole
from surfaces.cli.console import Console


def test_an_eval_is_reported_again_and_exported_from_its_record(tmp_path: Path) -> None:
    console = Console(tmp_path)
    none = console.run("eval", "report")
    assert (none.code, "no eval has ended" in none.err) == (2, True)
    record = eventful(cases=4)
    write_whole(EvalLayout(tmp_path / ".manyhands", record.id).record, record)
    found = json.loads(console.run("eval", "report", "-o", "json").out)
    assert found["eval"]["id"] == record.id
    misspelt = console.run("eval", "report", "retry-prompt-2")
    assert (misspelt.code, "retry-prompt-1" in misspelt.err) == (2, True)
    exported = console.run("eval", "export", record.id, "--to", "logs")
    assert exported.code == 0, exported.err
    assert [Path(line).exists() or (tmp_path / line).exists() for line in exported.out.splitlines()] == [True] * 3


def test_what_is_said_of_the_number_of_cases_agrees_with_the_figures(tmp_path: Path) -> None:
    console = Console(tmp_path)
    for cases in (1, 4):
        for agree in (False, True):
            record = eventful(cases=cases)
            if agree:  # then all lifts are 0, and there is no interval
                outcomes = [replace(one, scores=dict.fromkeys(one.scores, 1.0)) for one in record.outcomes]
                record = replace(record, outcomes=outcomes)
            write_whole(EvalLayout(tmp_path / ".manyhands", record.id).record, record)
            done = console.run("eval", "report", record.id)
            assert done.code == 0, done.err
            words = " ".join((done.out + done.err).split())
            assert ("the result is about it alone" in words) == (cases == 1)
            assert ("the interval is wide" in words) == (cases == 4 and not agree), words
            assert ("few cases" in words) == (cases == 4)
