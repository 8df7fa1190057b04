"""Plays what a program printed to its adapter, and gives the ending that follows."""

import datetime
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypedDict

from manyhands.core.values.ending import Ending, EndingKind
from manyhands.hosts.agents.acp_reading import AcpReading
from manyhands.hosts.agents.adapter import LineMoment
from manyhands.hosts.agents.agent_events import AgentEvent
from manyhands.hosts.agents.agent_tally import AgentTally
from manyhands.hosts.agents.described_agent import KNOWN

RECORDED = Path(__file__).with_name("recorded")


class Recording(TypedDict, total=False):
    exit: int
    lines: list[str]
    errors: list[str]


def recorded() -> dict[str, dict[str, Recording]]:
    """Agent → mode → what the real program printed."""
    return {file.stem: json.loads(file.read_text()) for file in sorted(RECORDED.glob("*.json"))}


def events_of(agent: str, lines: Iterable[str], exit_code: int, now: float) -> list[AgentEvent]:
    reader, moment = KNOWN[agent].reader(), LineMoment(now, datetime.UTC)
    events = [event for line in lines for event in reader.read(line, moment)]
    return [*events, *reader.finish(exit_code, moment)]


def play(agent: str, lines: Iterable[str], exit_code: int, now: float) -> Ending:
    tally = AgentTally()
    for event in events_of(agent, lines, exit_code, now):
        tally.note(event)
    kind = EndingKind.DONE if exit_code == 0 else EndingKind.FAILED
    return tally.ending(Ending(kind, f"exit {exit_code}" if exit_code else "", exit_code), now, datetime.UTC)


def play_recording(agent: str, recording: Recording, now: float) -> Ending:
    if agent.endswith("-acp"):
        return play_acp(recording["lines"], now)
    return play(agent, recording["lines"], recording["exit"], now)


def play_acp(lines: Iterable[str], now: float) -> Ending:
    """The record of a session, with what its process was asked left out."""
    reading, tally, moment = AcpReading(), AgentTally(), LineMoment(now, datetime.UTC)
    for line in lines:
        for what, told in json.loads(line).items():
            for event in _told(reading, what, told, moment):
                tally.note(event)
    return tally.ending(Ending(EndingKind.DONE), now, datetime.UTC)


def _told(reading: AcpReading, what: str, told: dict[str, Any], moment: LineMoment) -> Sequence[AgentEvent]:
    match what:
        case "update":
            return reading.update(told.get("update") or {})
        case "request_permission":
            return reading.tool_call(told.get("toolCall") or {})
        case "answered":
            return reading.answered(told, moment)
        case "error":
            return [reading.refused(told["code"], told["message"], told.get("data"), moment)]
    return []
