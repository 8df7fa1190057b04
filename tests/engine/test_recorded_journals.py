"""Journals that once were written replay to the state they had then, whatever later versions would decide."""

import json
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from engine.journals.recorded import DIRECTORY, as_written, events_of, replay, state_of
from manyhands.core import events, snapshot
from manyhands.core.invariants import violations
from manyhands.core.scheduler import Scheduler
from manyhands.core.state import FamilyBarrier
from manyhands.core.values.provenance import CausedBy, Origin, Purpose
from manyhands.core.values.task import Task
from manyhands.engine.store.contract.old_journals import brought_up_to_date

NAMES = sorted(path.name.removesuffix(".jsonl") for path in DIRECTORY.glob("*.jsonl"))


@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_journal_replays_to_its_recorded_state(name: str) -> None:
    book = replay(events_of(name))
    assert state_of(book) == json.loads((DIRECTORY / f"{name}.state.json").read_text())
    assert violations(book) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_journal_replays_to_the_same_state_from_a_snapshot_at_any_place(name: str) -> None:
    recorded = events_of(name)
    whole = Scheduler()
    whole.replay(recorded)
    for place in range(0, len(recorded), max(1, len(recorded) // 20)):
        first, second = Scheduler(), Scheduler()
        first.replay(recorded[:place])
        assert snapshot.load(second, snapshot.save(first))
        second.replay(recorded[place:])
        assert snapshot.save(second) == snapshot.save(whole), f"with a snapshot after event {place}"


@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_journal_is_written_as_it_was_read(name: str) -> None:
    lines = (Path(DIRECTORY) / f"{name}.jsonl").read_bytes().splitlines()
    for line, event in zip(lines, as_written(name), strict=True):
        assert json.loads(msgspec.json.encode(event)) == json.loads(line)


def test_every_kind_of_event_that_is_ever_journalled_is_in_a_recording() -> None:
    found = {type(event) for name in NAMES for event in as_written(name)}
    assert set(get_args(events.AnyEvent)) - found == {events.Woke}, "time alone is not worth a line"


@pytest.mark.parametrize("name", NAMES)
def test_what_is_read_today_is_written_with_its_values_and_read_as_it_is(name: str) -> None:
    for event in events_of(name):
        again = msgspec.json.decode(msgspec.json.encode(event), type=events.AnyEvent)  # type: ignore[arg-type]
        assert brought_up_to_date(again) is again, "an event that says its values is not old"
        assert again == event


def test_in_an_old_journal_what_the_backlog_took_away_and_a_person_did_is_told_apart() -> None:
    run = replay(events_of("v1-backlog")).runs["plan-1"]
    caused = {id: record.cause.by for id, record in run.records.items()}
    assert caused["gone-running"] is CausedBy.BACKLOG, "told to an attempt that ran"
    assert caused["edited"] is CausedBy.PERSON
    assert caused["kept"] is CausedBy.PERSON
    assert caused["off"] is CausedBy.PLAN
    assert caused["after-bad"] is CausedBy.NEED
    assert [event.by for event in events_of("v1-backlog") if isinstance(event, events.CancelAsked)] == [
        CausedBy.BACKLOG,
        CausedBy.BACKLOG,
        CausedBy.PERSON,
    ]


def test_in_an_old_journal_tasks_that_were_added_by_hand_are_known_by_their_label() -> None:
    runs = replay(events_of("v1-backlog")).runs
    assert (runs["plan-1"].purpose, runs["added"].purpose) == (Purpose.PLAN, Purpose.HAND)
    assert {record.origin for record in runs["added"].records.values()} == {Origin.HAND}
    by_hand = [id for id, record in runs["plan-1"].records.items() if record.origin is Origin.HAND]
    assert by_hand == ["by-hand-in-plan"]


def test_in_an_old_journal_a_family_keeps_its_host_though_the_config_lost_it() -> None:
    book = replay(events_of("v1-families"))
    host = book.hosts["web-1"]
    assert (host.kept_by, host.is_gone) == (FamilyBarrier("slow-1", "kernel"), True)
    steps = {id for run in book.runs.values() for id, record in run.records.items() if record.is_step}
    assert steps == {id for run in book.runs.values() for id in run.records if "~" in id}
    assert book.runs["slow-1"].records["d"].cause.by is CausedBy.FAMILY, "it waits for the rest of its round"
    assert book.runs["plan-1"].records["c"].cause.by is CausedBy.PERSON


def test_in_an_old_journal_runs_of_evals_and_their_tasks_are_known_by_their_words() -> None:
    runs = replay(events_of("v1-eval-words")).runs
    evals = {name: run.source for name, run in runs.items() if run.purpose is Purpose.EVAL}
    assert [*evals] == ["e-1", "e-2"]
    assert {Path(source).name for source in evals.values()} == {"spec.toml"}
    trials = {name: run.source for name, run in runs.items() if run.purpose is Purpose.TRIAL}
    assert trials == {name: name.partition(".")[0] for name in runs if name not in evals}
    touched = [
        (run.name, id)
        for run in runs.values()
        for id, record in run.records.items()
        if record.origin is Origin.TOUCHED_SESSION
    ]
    assert touched == [("e-1.b.c0.1", "s2")]
    origins = {id: record.origin for run in runs.values() for id, record in run.records.items()}
    assert (origins["s1"], origins["score-command"], origins["end"]) == (
        Origin.SESSION,
        Origin.SCORER,
        Origin.CONTROL,
    )
    assert runs["e-2.a.c0.1"].records["s1"].cause.by is CausedBy.RUN


def test_a_plan_of_today_may_use_the_words_of_old_journals() -> None:
    task = Task("a", labels=("added-by-hand",))
    submitted = events.TasksSubmitted(1.0, "r", (task,), Origin.PLAN)
    cancelled = events.CancelAsked(1.0, "r", "a", "in the backlog: so said a person", CausedBy.PERSON)
    opened = events.RunOpened(1.0, "r", source="eval of my own", purpose=Purpose.PLAN)
    for event in (submitted, cancelled, opened):
        assert brought_up_to_date(event) == event
