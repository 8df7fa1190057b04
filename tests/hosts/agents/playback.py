"""Plays what a program printed to its adapter, and gives the ending that follows."""

import datetime
from collections.abc import Iterable

from manyhands.core.values.ending import Ending, EndingKind
from manyhands.hosts.agents.adapter import LineMoment
from manyhands.hosts.agents.agent_events import AgentEvent
from manyhands.hosts.agents.agent_tally import AgentTally
from manyhands.hosts.agents.described_agent import KNOWN


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
