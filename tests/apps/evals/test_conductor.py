"""What the conductor of an eval decides, in virtual time: order, pauses, aborts, restarts and crashes at any moment."""

import itertools
import random

import pytest

from apps.evals.specs import a_spec
from apps.evals.virtual_eval import COMMIT_S, SESSION_S, VirtualEval
from manyhands.apps.evals import conductor_values as v
from manyhands.apps.evals.conductor import Conductor
from manyhands.apps.evals.pacing import SessionTurn
from manyhands.apps.evals.spec.eval_types import SessionEnd
from manyhands.apps.evals.spec.ordering import Trial, trials_of
from manyhands.apps.evals.trial.eval_notes import ContextInjected, EvalAborted, EvalPaused, EvalResumed

SMALL = a_spec(arms=2, cases=2, replications=2, sessions=2, order="swap")


def all_turns() -> set[SessionTurn]:
    return {SessionTurn(trial, session) for trial in trials_of(SMALL) for session in (1, 2)}


def test_one_at_a_time_every_session_runs_once_in_the_order_of_the_spec() -> None:
    world = VirtualEval(SMALL).run()
    assert world.state == "finished"
    assert world.order() == [
        *("ac0r1s1", "bc0r1s1", "ac0r1s2", "bc0r1s2", "bc1r1s1", "ac1r1s1", "bc1r1s2", "ac1r1s2"),
        *("bc0r2s1", "ac0r2s1", "bc0r2s2", "ac0r2s2", "ac1r2s1", "bc1r2s1", "ac1r2s2", "bc1r2s2"),
    ]
    assert world.scored == set(trials_of(SMALL))


def test_with_room_for_both_the_sessions_of_all_arms_are_handed_in_together() -> None:
    world = VirtualEval(SMALL, at_once=2).run()
    assert world.state == "finished"
    for command in world.of(v.HandInSessions):
        assert {order.turn.trial.arm for order in command.sessions} == {"a", "b"}
        assert len({order.turn[1] for order in command.sessions}) == 1


def test_a_first_session_takes_the_place_of_the_one_before_in_the_same_moment() -> None:
    """Its workspace was copied ahead of time, so that it need not wait."""
    spec = a_spec(arms=2, cases=2, replications=2)
    world = VirtualEval(spec).run()
    starts = [at for at, _ in world.started]
    assert [after - before for before, after in itertools.pairwise(starts)] == [SESSION_S] * 7


def test_trials_are_scored_when_all_arms_have_ended_and_not_before() -> None:
    world = VirtualEval(SMALL)
    world.run(until=lambda: world.of(v.ScoreTrials))
    assert world.of(v.ScoreTrials) == [v.ScoreTrials((Trial("a", "c0", 1), Trial("b", "c0", 1)))]
    assert {turn for turn in world.ended if turn.trial.case == "c0"} == {
        SessionTurn(Trial(arm, "c0", 1), session) for arm in "ab" for session in (1, 2)
    }


def test_scorers_take_places_that_sessions_would_have() -> None:
    world = VirtualEval(SMALL, at_once=2, scorers=True).run()
    assert world.state == "finished"
    assert len(world.of(v.HandInScorer)) == len(trials_of(SMALL))


def test_a_session_that_fails_ends_its_trial_which_is_scored() -> None:
    failing = SessionTurn(Trial("a", "c0", 1), 1)
    world = VirtualEval(SMALL, end_of=lambda turn: "failed" if turn == failing else "done").run()
    assert world.state == "finished"
    assert SessionTurn(failing.trial, 2) not in world.ended
    assert failing.trial in world.scored


def test_a_trial_that_infrastructure_ended_is_not_scored() -> None:
    lost = SessionTurn(Trial("a", "c0", 1), 2)
    world = VirtualEval(SMALL, end_of=lambda turn: "infrastructure" if turn == lost else "done").run()
    assert world.state == "finished"
    assert set(trials_of(SMALL)) - world.scored == {lost.trial}


def test_failing_fast_begins_nothing_more_and_scores_what_has_ended() -> None:
    failing = SessionTurn(Trial("b", "c1", 1), 1)
    world = VirtualEval(
        SMALL, at_once=2, fail_fast=True, end_of=lambda turn: "failed" if turn == failing else "done"
    ).run()
    assert world.state == "failed_fast"
    assert Trial("a", "c0", 1) in world.scored
    assert failing.trial in world.scored
    assert not any(turn.trial.replication == 2 for _, turn in world.started)


def test_an_eval_that_is_decided_begins_no_more_cases() -> None:
    spec = a_spec(arms=2, cases=6, replications=1, stop_when_decided=True)
    world = VirtualEval(spec, decided_after=4).run()
    assert world.state == "decided"
    assert 4 <= len(world.scored) < 12
    weighed = VirtualEval(spec, decided_after=12).run()
    assert weighed.state == "finished"


# Pauses


def test_a_paused_eval_lets_what_runs_finish_and_starts_nothing_until_it_is_resumed() -> None:
    world = VirtualEval(SMALL, at_once=2)
    world.run(until=lambda: world.running)
    world.ask(EvalPaused())
    world.run()
    assert world.state is None
    assert len(world.started) == len(world.ended) == 2
    world.ask(EvalPaused())
    assert len(world.said) == 1
    world.ask(EvalResumed())
    assert world.run().state == "finished"
    assert set(world.ended) == all_turns()
    assert world.of(v.TellSessions) == [v.TellSessions("pause"), v.TellSessions("resume")]


def test_a_pause_while_a_workspace_is_copied_starts_nothing_and_loses_nothing() -> None:
    world = VirtualEval(SMALL, at_once=2)
    assert world.of(v.CopyWorkspace)
    assert not world.started
    world.ask(EvalPaused())
    world.run()
    assert not world.started
    world.ask(EvalResumed())
    assert world.run().state == "finished"
    assert set(world.ended) == all_turns()


def test_scorers_of_a_paused_eval_wait() -> None:
    spec = a_spec(arms=2, cases=1, replications=1)
    world = VirtualEval(spec, at_once=2, scorers=True)
    world.run(until=lambda: len(world.ended) == 2)
    world.ask(EvalPaused())
    world.run()
    assert not world.of(v.HandInScorer)
    world.ask(EvalResumed())
    world.run(until=lambda: len(world.of(v.HandInScorer)) == 2)
    assert len(world.of(v.HandInScorer)) == 2


# Aborts


@pytest.mark.parametrize("paused", [False, True])
def test_an_aborted_eval_cancels_what_runs_and_scores_what_has_ended(paused: bool) -> None:
    world = VirtualEval(SMALL, at_once=2)
    world.run(until=lambda: len(world.ended) >= 5 and world.running)
    if paused:
        world.ask(EvalPaused())
    world.ask(EvalAborted())
    started = len(world.started)
    assert world.run().state == "aborted"
    assert len(world.started) == started
    assert {Trial("a", "c0", 1), Trial("b", "c0", 1)} <= world.scored
    assert "aborted" in world.ended.values()


def test_an_abort_that_a_crash_cut_short_is_reported_by_the_next_process_which_begins_nothing() -> None:
    world = VirtualEval(SMALL, at_once=2)
    world.run(until=lambda: len(world.ended) >= 5 and world.running)
    world.ask(EvalAborted())
    started = len(world.started)
    world.crash()
    assert world.run().state == "aborted"
    assert len(world.started) == started


# Leaving


def test_a_user_who_leaves_waits_for_what_runs_and_the_next_process_continues() -> None:
    world = VirtualEval(SMALL, at_once=2)
    world.run(until=lambda: world.running)
    world.tell(v.UserLeft(world.at, stops_sessions=False))
    world.run()
    assert world.state == "stopped"
    assert len(world.ended) == len(world.started) == 2
    world.state = None
    world.begin()
    assert world.run().state == "finished"
    assert set(world.ended) == all_turns()


def test_a_user_who_stops_does_not_wait() -> None:
    world = VirtualEval(SMALL, at_once=2)
    world.run(until=lambda: world.running)
    at = world.at
    world.tell(v.UserLeft(world.at, stops_sessions=True))
    world.run()
    assert world.state == "stopped"
    assert world.at - at <= 2 * COMMIT_S
    assert v.TellSessions("stop") in world.commands


def test_a_user_who_left_before_anything_began_begins_nothing() -> None:
    world = VirtualEval(SMALL)
    world.begin(user_left=True)
    assert world.run().state == "stopped"
    assert world.started == []


def test_a_resume_does_not_bring_back_a_user_who_left() -> None:
    world = VirtualEval(SMALL)
    world.run(until=lambda: world.running)
    world.tell(v.UserLeft(world.at, stops_sessions=False))
    world.ask(EvalResumed())
    assert world.run().state == "stopped"


def test_an_eval_left_between_its_last_session_and_its_scores_is_not_finished_yet() -> None:
    spec = a_spec(arms=2, cases=1, replications=1)
    world = VirtualEval(spec, at_once=2)
    world.run(until=lambda: len(world.ended) == 2)
    world.tell(v.UserLeft(world.at, stops_sessions=False))
    world.run()
    assert world.state == "stopped"
    assert not world.scored
    world.state = None
    world.begin()
    assert world.run().state == "finished"
    assert len(world.scored) == 2


def test_a_host_that_does_not_answer_ends_the_process_unless_someone_resumes_the_eval() -> None:
    world = VirtualEval(SMALL)
    world.run(until=lambda: world.running)
    world.tell(v.HostGaveUp(world.at, "host far did not accept work"))
    assert "host far did not accept work" in world.said[-1]
    world.ask(EvalResumed())
    world.run(until=lambda: len(world.ended) == 3)
    world.tell(v.HostGaveUp(world.at, "host far did not accept work"))
    assert world.run().state == "stopped"


# Context


def test_injected_context_goes_to_the_sessions_it_is_for_that_have_not_begun() -> None:
    world = VirtualEval(SMALL)
    world.run(until=lambda: len(world.started) == 3)
    world.ask(ContextInjected("be brief", arm="a"))
    world.run(until=lambda: len(world.ended) == 5)
    world.crash()
    world.run()
    told = {turn for turn, texts in world.injected.items() if texts == ("be brief",)}
    begun = {turn for _, turn in world.started[:3]}
    assert told == {turn for turn in all_turns() if turn.trial.arm == "a"} - begun


def test_a_request_that_is_told_twice_counts_once() -> None:
    """It may reach the journal just before the conductor begins to listen."""
    world = VirtualEval(SMALL)
    world.ask(ContextInjected("be brief"))
    world.crash()
    world.tell(v.RequestHeard(world.injections[0].at, ContextInjected("be brief")))
    world.run(until=lambda: world.started)
    assert set(world.injected.values()) == {("be brief",)}


def test_an_eval_that_was_paused_before_it_began_starts_nothing() -> None:
    conductor = Conductor(SMALL, 1)
    assert conductor.handle(v.EvalTakenUp(0.0, paused=True)) == []
    assert v.TellSessions("resume") in conductor.handle(v.RequestHeard(1.0, EvalResumed()))
    assert conductor.in_flight


# Crashes


def test_a_crash_at_any_moment_costs_only_what_was_in_flight() -> None:
    undisturbed = VirtualEval(SMALL, at_once=3, end_of=_mixed).run()
    steps = 0
    while True:
        world = VirtualEval(SMALL, at_once=3, end_of=_mixed)
        for _ in range(steps):
            world.step()
        if world.state is not None:
            break
        begun, kept = len(world.started), len(world.ended)
        world.crash()
        assert world.run().state == "finished"
        assert world.ended == undisturbed.ended
        assert world.scored == undisturbed.scored
        assert len(world.started) == len(undisturbed.started) + begun - kept
        steps += 1
    assert steps > 50


def _mixed(turn: SessionTurn) -> SessionEnd:
    if turn == SessionTurn(Trial("a", "c1", 1), 1):
        return "failed"
    return "infrastructure" if turn == SessionTurn(Trial("b", "c0", 2), 2) else "done"


@pytest.mark.parametrize("seed", range(60))
def test_whatever_people_ask_and_however_often_it_crashes_every_session_ends_once(seed: int) -> None:
    draw = random.Random(seed)
    at_once = draw.choice((1, 2, 3, 5))
    world = VirtualEval(SMALL, at_once=at_once, end_of=_mixed)
    for _ in range(draw.randint(5, 60)):
        for _ in range(draw.randint(0, 8)):
            world.step()
        what = draw.choice(("pause", "resume", "crash", "leave"))
        if world.state is not None:
            break
        if what == "pause":
            world.ask(EvalPaused())
        elif what == "resume":
            world.ask(EvalResumed())
        elif what == "crash":
            world.crash()
        else:
            world.tell(v.UserLeft(world.at, stops_sessions=draw.random() < 0.5))
            world.run()
            assert world.state in ("stopped", "finished")
            if world.state == "stopped":
                world.state = None
                world.begin()
    world.ask(EvalResumed())
    world.run()
    assert world.state == "finished"
    undisturbed = VirtualEval(SMALL, end_of=_mixed).run()
    assert (world.ended, world.scored) == (undisturbed.ended, undisturbed.scored)


@pytest.mark.parametrize("seed", range(30))
def test_an_abort_always_comes_to_an_end_whatever_was_asked_before_and_after(seed: int) -> None:
    draw = random.Random(seed)
    world = VirtualEval(SMALL, at_once=draw.choice((1, 2, 3)), end_of=_mixed, scorers=True)
    for _ in range(draw.randint(0, 40)):
        world.step()
    before = draw.choice(("pause", "leave", "give up", "nothing"))
    if before == "pause":
        world.ask(EvalPaused())
    elif before == "leave":
        world.tell(v.UserLeft(world.at, stops_sessions=False))
    elif before == "give up":
        world.tell(v.HostGaveUp(world.at, "host far did not accept work"))
    for _ in range(draw.randint(0, 2)):
        world.step()
    if world.state is None:
        world.ask(EvalAborted())
        after = draw.choice(("pause", "leave", "nothing"))
        if after == "pause":
            world.ask(EvalPaused())
        elif after == "leave":
            world.tell(v.UserLeft(world.at, stops_sessions=False))
        assert world.run().state == "aborted"
        told = [command.what for command in world.of(v.TellSessions)]
        assert "pause" not in told or told.index("resume") > told.index("pause")
