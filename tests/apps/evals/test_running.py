"""Evals with real agents on the engine: what runs, in which order, and what is found."""

import json
from collections.abc import Sequence

import pytest

from apps.evals.specs import Nobody, evaluated, record_of, results, workspace, written
from manyhands.apps.evals.figures import decided
from manyhands.core.events import AttemptEnded, AttemptStarted, Input, TasksSubmitted
from manyhands.core.values.task import TaskState
from manyhands.engine.dispatcher import Dispatcher
from manyhands.errors import UsageError
from surfaces.cli.console import Console

SCORERS = """
[[scorer]]
name = "written"
type = "file"
file = "answer.txt"
[[scorer]]
name = "first"
type = "regex"
file = "answer.txt"
pattern = "(?P<score>[0-9]+)"
[[scorer]]
name = "asked"
type = "contains"
file = "prompts.txt"
text = "do 1"
[[scorer]]
name = "afresh"
type = "command"
run = ["sh", "-c", "test $(grep -c begun log.txt) = 2"]
"""


def test_every_trial_is_a_run_of_its_own_and_is_scored(console: Console) -> None:
    written(console, cases=2, replications=2, sessions=2, seed=3, scorers=SCORERS)
    done = console.run("eval", "spec.toml", "--output", "json")
    assert done.code == 0, done.err
    record = record_of(console)
    assert json.loads(done.out)
    assert record.state == "finished"
    assert [outcome.state for outcome in record.outcomes] == ["scored"] * 8
    for outcome in record.outcomes:
        assert outcome.scores["written"] == outcome.scores["afresh"] == 1.0
        assert outcome.scores["asked"] == float(outcome.case == "c1")
    by_key = {outcome.key: outcome.scores["first"] for outcome in record.outcomes}
    for (arm, case, replication), score in by_key.items():
        if arm == "a":
            assert by_key["b", case, replication] == score + 3.0  # the same seed for both arms
    book = console.book()
    runs = [run for name, run in book.runs.items() if name.startswith("e-1.")]
    assert len(runs) == 8
    assert all(run.counts[TaskState.DONE] == 3 for run in runs)
    beat = json.loads((workspace(console, "a", "c0", 1).parent / "heartbeat.json").read_bytes())
    assert beat["run"] == "e-1.a.c0.1"
    assert console.run("eval", "status").out.endswith("eval e-1: finished · concurrency 1\n")


async def test_one_at_a_time_the_order_really_used_is_the_one_drawn(console: Console) -> None:
    written(console, cases=2, replications=2, sessions=2, order="swap")
    record = await evaluated(console)
    assert [f"{start.arm}{start.case}r{start.replication}s{start.session}" for start in record.order] == [
        *("ac0r1s1", "bc0r1s1", "ac0r1s2", "bc0r1s2", "bc1r1s1", "ac1r1s1", "bc1r1s2", "ac1r1s2"),
        *("bc0r2s1", "ac0r2s1", "bc0r2s2", "ac0r2s2", "ac1r2s1", "bc1r2s1", "ac1r2s2", "bc1r2s2"),
    ]
    ends = {(o.arm, o.case, o.replication, s.session): s.ended_at for o in record.outcomes for s in o.sessions}
    for before, after in zip(record.order, record.order[1:], strict=False):
        assert ends[before.arm, before.case, before.replication, before.session] <= after.at
    assert {o.position for o in record.outcomes if (o.arm, o.case, o.replication) == ("a", "c0", 1)} == {1}


async def test_eight_at_a_time_finds_the_same_numbers_and_starts_pairs_together(console: Console) -> None:
    written(console, cases=3, replications=2)
    written(console, nap=0.3, cases=3, replications=2, name="wide.toml", concurrency=8)
    one, eight = await evaluated(console), await evaluated(console, "wide.toml")
    assert eight.concurrency.n == 8
    assert results(one) == results(eight)
    started = {(start.arm, start.case, start.replication): start.at for start in eight.order}
    for (arm, case, replication), at in started.items():
        if arm == "a":
            assert started["b", case, replication] == at
    overlapping = sum(
        1 for outcome in eight.outcomes if (outcome.started_at or 0) < min(o.ended_at or 0 for o in eight.outcomes)
    )
    assert overlapping >= 4


async def test_without_interleaving_all_of_one_arm_comes_first_and_the_record_says_so(console: Console) -> None:
    written(console, cases=2, replications=2)
    record = await evaluated(console, interleave=False)
    assert [start.arm for start in record.order] == ["a"] * 4 + ["b"] * 4
    assert not record.spec.interleave


async def test_failing_fast_keeps_what_finished(console: Console) -> None:
    written(console, cases=3, replications=2, order="swap")
    text = (console.directory / "spec.toml").read_text()
    failing = text.replace("echo begun >> log.txt;", "test $MANYHANDS_CASE != c1 || exit 3;", 1)
    console.write("spec.toml", failing)
    record = await evaluated(console, fail_fast=True)
    assert record.state == "failed_fast"
    states = {outcome.key: outcome.state for outcome in record.outcomes}
    assert states["a", "c0", 1] == states["b", "c0", 1] == "scored"
    assert states["a", "c2", 1] == states["a", "c0", 2] == "missing"


async def test_a_failing_agent_is_an_outcome_and_not_an_error(console: Console) -> None:
    written(console, cases=1, replications=1, sessions=2, scorers='[[scorer]]\nname = "done"\ntype = "done"')
    text = (console.directory / "spec.toml").read_text()
    console.write("spec.toml", text.replace("echo begun >> log.txt;", "exit 3;", 1))
    a, b = (await evaluated(console)).outcomes
    assert (a.state, a.scores, b.scores) == ("scored", {"done": 0.0}, {"done": 1.0})
    assert [session.ending for session in a.sessions] == ["failed"]


async def test_an_agent_that_hangs_is_timed_out_and_scored_by_what_it_left(console: Console) -> None:
    written(console, cases=1, replications=1, timeout="4s")
    text = (console.directory / "spec.toml").read_text()
    console.write("spec.toml", text.replace("echo begun >> log.txt;", "echo 5 > answer.txt; sleep 60;", 1))
    a, b = (await evaluated(console)).outcomes
    assert a.sessions[0].ending == "timed_out"
    assert (a.timed_out, a.scores) == (1, {"answer": 5.0})
    assert b.timed_out == 0


async def test_trials_start_with_a_copy_of_what_the_case_has(console: Console) -> None:
    written(console, cases=1, replications=2)
    (console.directory / "start").mkdir()
    console.write("start/answer.txt", "40\n")
    text = (console.directory / "spec.toml").read_text()
    console.write("spec.toml", text.replace('prompt = "do 0"', 'prompt = "do 0"\nfiles = "start"'))
    assert {outcome.scores["answer"] for outcome in (await evaluated(console)).outcomes} == {40.0}
    assert (console.directory / "start" / "answer.txt").read_text() == "40\n"


async def test_a_case_may_be_the_whole_project_and_does_not_hold_the_store(console: Console) -> None:
    written(console, cases=1, replications=1)
    text = (console.directory / "spec.toml").read_text()
    console.write("spec.toml", text.replace('prompt = "do 0"', 'prompt = "do 0"\nfiles = "."'))
    assert (await evaluated(console)).state == "finished"
    assert (workspace(console, "a", "c0", 1) / "spec.toml").exists()
    assert not (workspace(console, "a", "c0", 1) / ".manyhands").exists()


async def test_what_takes_a_place_is_on_disk_in_one_transaction_with_what_gave_it_up(console: Console) -> None:
    written(console, nap=0.2, cases=2, replications=3)
    listener = Listener()
    await evaluated(console, nobody=listener)
    in_their_place = [kinds for kinds in listener.batches if {AttemptEnded, TasksSubmitted, AttemptStarted} <= kinds]
    assert len(in_their_place) >= 6  # of 11; a workspace that is late makes two of one


class Listener(Nobody):
    """Keeps which kinds of events were written together."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[set[type]] = []

    def watch_over(self, dispatcher: Dispatcher, run: str) -> Sequence[Input]:
        dispatcher.recorded.append(lambda batch: self.batches.append({type(event) for event in batch}))
        return ()


async def test_a_null_arm_is_the_baseline_over_again(console: Console) -> None:
    written(console, cases=1, replications=2, null_arm=True)
    record = await evaluated(console, concurrency=3)
    found = results(record)
    assert [arm.name for arm in record.spec.arms] == ["a", "b", "null"]
    for replication in (1, 2):
        assert found["null", "c0", replication] == found["a", "c0", replication]


async def test_an_eval_that_may_stop_when_it_is_decided_runs_no_more_cases_than_that_takes(console: Console) -> None:
    written(
        console, cases=30, replications=1, scorers='[[scorer]]\nname = "done"\ntype = "done"', stop_when_decided=True
    )
    text = (console.directory / "spec.toml").read_text()
    console.write("spec.toml", text.replace("echo begun >> log.txt;", "exit 3;", 1))
    record = await evaluated(console, concurrency=4)
    assert record.state == "decided"
    scored = [outcome.case for outcome in record.outcomes if outcome.arm == "b" and outcome.state == "scored"]
    assert scored == [f"c{n}" for n in range(len(scored))]
    assert 3 <= len(scored) < 30
    assert decided(record)


async def test_an_early_stop_needs_arms_that_take_turns_and_scores_with_bounds(console: Console) -> None:
    written(console, stop_when_decided=True)
    with pytest.raises(UsageError, match="`answer` may give any number"):
        await evaluated(console)
    written(console, stop_when_decided=True, scorers='[[scorer]]\nname = "done"\ntype = "done"')
    with pytest.raises(UsageError, match="runs arm by arm"):
        await evaluated(console, interleave=False)
