"""Attempts of agents that say nothing and compute nothing."""

from hosts.agents.agent_stage import AgentStage, recorded
from hosts.agents.playback import events_of
from hosts.agents.recordings import RECORDINGS, SESSION
from manyhands.core.values.ending import EndingKind
from manyhands.core.values.task import Task
from manyhands.hosts.agents.agent_events import (
    AgentRefusal,
    AgentSession,
    Closed,
    Does,
    RefusalKind,
    Retrying,
    Returned,
    Says,
)


async def test_silence_ends_an_attempt_and_a_busy_tool_does_not(stage: AgentStage) -> None:
    busy = recorded("claude", "ok") | {"then": "timeout 3 sh -c 'while :; do :; done'"}
    assert (await stage.desk("claude", busy, idle_s=1.0).run(Task("t", prompt="do it"))).kind is EndingKind.DONE
    hangs = {"lines": RECORDINGS["claude", "ok"][1][:1], "after": "sleep 1000"}
    (stage.notes / "given.1.json").unlink()
    ending = await stage.desk("claude", hangs, idle_s=1.0).run(Task("t", prompt="do it"))
    assert (ending.kind, ending.detail, ending.session) == (EndingKind.TIMED_OUT, "silent for 1 s", SESSION)


RECONNECTS = [*RECORDINGS["codex", "rate"][1][:2], RECORDINGS["codex", "rate"][1][4]]


async def test_silence_after_a_refusal_is_not_the_fault_of_the_attempt(stage: AgentStage) -> None:
    """Whoever asked again and then waits was refused by its service. An answer since then says otherwise."""
    again, says = Retrying("429 rate limited"), Says("All is well again.")
    refused = Closed(AgentRefusal(RefusalKind.AUTH, "401"))
    over, late = EndingKind.OVERLOADED, EndingKind.TIMED_OUT
    assert stage.ends_silent(AgentSession(SESSION)) == (late, "silent for 15 min")
    assert stage.ends_silent(AgentSession(SESSION), again) == (over, "asked again once, then silent for 15 min")
    assert stage.ends_silent(says, *[again] * 7) == (over, "asked again 7 times, then silent for 15 min")
    assert stage.ends_silent(again, says) == (late, "silent for 15 min")
    assert stage.ends_silent(again, Does("Bash", runs=True), Returned()) == (late, "silent for 15 min")
    assert stage.ends_silent(again, refused) == (late, "silent for 15 min")
    events = events_of("codex", RECONNECTS, -15, 0.0)
    assert stage.ends_silent(*events) == (over, "asked again once, then silent for 15 min")


async def test_a_program_that_waits_after_a_refusal_was_refused(stage: AgentStage) -> None:
    desk = stage.desk("codex", {"lines": RECONNECTS, "after": "sleep 1000"}, idle_s=1.0)
    ending = await desk.run(Task("t", prompt="do it"))
    assert (ending.kind, ending.detail) == (EndingKind.OVERLOADED, "asked again once, then silent for 1 s")
    assert ending.session == SESSION, "the next attempt continues it"


async def test_a_tool_that_waits_is_life_for_a_while(stage: AgentStage) -> None:
    waits = {"lines": RECORDINGS["claude", "ok"][1][:2], "after": "sleep 1000"}
    ending = await stage.desk("claude", waits, idle_s=0.5).run(Task("t", prompt="do it"))
    assert (ending.kind, ending.detail) == (EndingKind.TIMED_OUT, "silent for 2 s, and so was its tool")
