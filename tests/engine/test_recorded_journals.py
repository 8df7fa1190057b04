"""Journals that once were written replay to the state they had then, whatever later versions would decide."""

import json
from pathlib import Path

import msgspec
import pytest

from engine.journals.recorded import DIRECTORY, events_of, replay, state_of
from manyhands.core import events, snapshot
from manyhands.core.invariants import violations
from manyhands.core.scheduler import Scheduler

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
    for line, event in zip(lines, events_of(name), strict=True):
        assert json.loads(msgspec.json.encode(event)) == json.loads(line)


def test_there_is_a_recording_of_the_first_version_with_most_kinds_of_events() -> None:
    assert "v1-mixed" in NAMES
    found = {type(event) for event in events_of("v1-mixed")}
    assert found >= {
        events.HostsConfigured,
        events.RunOpened,
        events.RunResumed,
        events.RunDrained,
        events.RunStopped,
        events.TasksSubmitted,
        events.AttemptSpawned,
        events.AttemptStarted,
        events.AttemptEnded,
        events.CancelAsked,
        events.RetryAsked,
        events.DeferAsked,
        events.ResumeAsked,
        events.HostPaused,
        events.HostResumed,
        events.WidthSet,
        events.WidthMoved,
        events.StopDecided,
        events.RetryDecided,
    }
