"""What the real programs printed (record_agents.py), played to their adapters."""

import datetime

import pytest

from hosts.agents.playback import play, play_acp, play_recording, recorded
from hosts.agents.real_hosts import ACP_AGENTS, AGENTS
from hosts.agents.refusal_endings import ENDINGS, marks
from hosts.agents.scripted_model import TOKENS_IN, TOKENS_OUT
from manyhands.core.values.ending import EndingKind
from manyhands.hosts.agents.agent_events import Retrying
from manyhands.hosts.agents.described_agent import KNOWN

RECORDED = recorded()
CASES = [(agent, mode) for agent, modes in RECORDED.items() for mode in modes]
REFUSED = [case for case in CASES if case[1] != "ok"]
NOW = datetime.datetime(2026, 11, 18, 21, 0, tzinfo=datetime.UTC).timestamp()


def test_each_program_is_recorded_in_each_mode() -> None:
    assert set(RECORDED) == {*AGENTS, *ACP_AGENTS}
    wanted = {"ok", "rate", "quota", "auth", "busy", "context", "drop"}
    assert {agent: set(modes) for agent, modes in RECORDED.items()} == dict.fromkeys(RECORDED, wanted)


@pytest.mark.parametrize(("agent", "mode"), REFUSED, ids=["-".join(case) for case in REFUSED])
def test_each_refusal_is_called_what_it_is(agent: str, mode: str) -> None:
    ending = play_recording(agent, RECORDED[agent][mode], NOW)
    assert (ending.kind, marks(ending)) == ENDINGS[agent, mode], ending
    assert ending.detail, "a person reads why"


@pytest.mark.parametrize("agent", RECORDED)
def test_a_task_that_was_done_is_done_with_its_tokens(agent: str) -> None:
    ending = play_recording(agent, RECORDED[agent]["ok"], NOW)
    assert ending.kind is EndingKind.DONE, ending
    counted = agent != "aider"  # which counts for itself
    assert ending.tokens_in >= (TOKENS_IN if counted else 100)
    assert ending.tokens_out >= (TOKENS_OUT if counted else 1)


@pytest.mark.parametrize(("agent", "mode"), CASES, ids=["-".join(case) for case in CASES])
def test_no_part_of_a_recording_is_taken_for_done(agent: str, mode: str) -> None:
    """Cut off anywhere, whatever the exit code: only all of a good one is done."""
    lines = RECORDED[agent][mode]["lines"]
    for count in range(len(lines) if mode == "ok" else len(lines) + 1):
        if agent.endswith("-acp"):
            assert play_acp(lines[:count], NOW).kind is not EndingKind.DONE
        elif not (mode == "ok" and _is_closed(agent, lines[:count])):
            assert play(agent, lines[:count], 0, NOW).kind is not EndingKind.DONE, lines[:count]


def _is_closed(agent: str, lines: list[str]) -> bool:
    """aider has answered once it has told its tokens; what it edits comes afterwards."""
    return agent == "aider" and any(line.startswith("Tokens:") for line in lines)


def test_each_time_that_gemini_asks_again_is_heard() -> None:
    reader = KNOWN["gemini"].reader()
    for mode in ("rate", "busy"):
        told = [event for line in RECORDED["gemini"][mode]["errors"] for event in reader.warned(line)]
        assert len(told) >= 3
        assert all(isinstance(event, Retrying) for event in told)
