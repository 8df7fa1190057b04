"""What the journal says of a trial, made into its outcome."""

import pytest

from helpers import Player, a_host, a_task
from manyhands.apps.evals.spec.eval_types import Arm, Case, Prices, Scorer, Spec, TrialOutcome
from manyhands.apps.evals.spec.ordering import Trial
from manyhands.apps.evals.trial.manifest import Scores
from manyhands.apps.evals.trial.outcomes import outcome_of
from manyhands.core.retry import SETBACKS_MAX
from manyhands.core.values.ending import DONE, Ending, EndingKind

SPEC = Spec(
    "e",
    arms=(Arm("a", prices=Prices(2.0, 10.0)), Arm("b")),
    cases=(Case("c", cluster="k"),),
    scorers=(Scorer("s", "done"),),
    replications=1,
    sessions=2,
    baseline="a",
)
OOM = Ending(EndingKind.OVERLOADED, "killed by the kernel for lack of memory", exit_code=-9)
BUSY = Ending(EndingKind.OVERLOADED, "busy")
LIMITED = Ending(EndingKind.OVERLOADED, "429", rate_limited=True)
LOST = Ending(EndingKind.LOST, "gone")


def played(*endings: Ending) -> Player:
    """The sessions of one trial, their attempts ended like this."""
    player = Player(a_host(width=4))
    player.open(a_task("s1", attempts=1), a_task("s2", attempts=1, needs=("s1",)))
    for ending in endings:
        while not player.running:
            player.wait(120.0)
        player.end(*player.running, ending=ending)
    return player


def outcome(player: Player, scores: Scores | None = None) -> TrialOutcome:
    return outcome_of(Trial("a", "c", 1), player.book.runs["r"], "r", SPEC, scores, position=1)


def test_a_trial_is_scored_once_its_sessions_are_over_and_its_scores_are_there() -> None:
    assert outcome(played(DONE)).state == "missing"
    assert outcome(played(DONE, DONE)).state == "missing"
    scored = outcome(played(DONE, DONE), Scores({"s": 1.0}))
    assert (scored.state, scored.scores, scored.cluster, scored.position) == ("scored", {"s": 1.0}, "k", 1)
    assert [session.ending for session in scored.sessions] == ["done", "done"]


def test_a_failure_of_the_arm_is_scored_and_the_later_session_is_skipped() -> None:
    failed = outcome(played(Ending(EndingKind.FAILED, "exit 1", exit_code=1)), Scores({"s": 0.0}))
    assert (failed.state, failed.scores) == ("scored", {"s": 0.0})
    assert [session.ending for session in failed.sessions] == ["failed", "skipped"]


def test_an_arm_without_prices_costs_what_its_host_or_its_command_told() -> None:
    player = played(Ending(EndingKind.DONE, tokens_in=10, cost=0.25), Ending(EndingKind.DONE, cost=0.5))
    told = outcome_of(Trial("b", "c", 1), player.book.runs["r"], "r", SPEC, None, position=1)
    assert told.cost == 0.75
    assert outcome(player).cost == pytest.approx(10 * 2.0 / 1e6), "the arm's own prices go first"
    assert outcome_of(Trial("b", "c", 1), played(DONE).book.runs["r"], "r", SPEC, None, position=1).cost is None


def test_a_trial_that_never_got_room_is_neither_pass_nor_fail() -> None:
    """The host takes other tasks all the while; one that takes nothing at all is waited for."""
    player = Player(a_host(width=4))
    player.open(*(a_task(f"x{n}") for n in range(2 * SETBACKS_MAX)), run="other")
    player.open(a_task("s1", attempts=1), a_task("s2", attempts=1, needs=("s1",)))
    while player.state("s1") != "failed":
        if "s1" in player.running:
            player.end("s1", ending=BUSY)
        else:
            player.end(*player.running[:1], after_s=60.0)
    given_up = outcome(player, Scores({"s": 0.0}))
    assert (given_up.state, given_up.scores) == ("infrastructure", {})
    assert given_up.troubles.overloaded == SETBACKS_MAX


@pytest.mark.parametrize(
    ("ending", "counted"),
    [(OOM, "out_of_memory"), (BUSY, "overloaded"), (LIMITED, "rate_limited"), (LOST, "lost")],
)
def test_troubles_are_counted_by_what_they_were(ending: Ending, counted: str) -> None:
    troubled = outcome(played(ending, DONE, DONE), Scores({"s": 1.0}))
    assert troubled.state == "scored"
    assert getattr(troubled.troubles, counted) == troubled.troubles.total == 1
    assert [session.attempts for session in troubled.sessions] == [2, 1]


def test_tokens_of_all_attempts_are_paid_for_and_the_duration_is_of_those_that_count() -> None:
    tokens = {"tokens_in": 1_000, "tokens_out": 100}
    spent = outcome(
        played(Ending(EndingKind.LOST, **tokens), Ending(EndingKind.DONE, **tokens), DONE), Scores({"s": 1.0})
    )
    assert (spent.tokens_in, spent.tokens_out) == (2_000, 200)
    assert spent.cost == pytest.approx((2_000 * 2.0 + 200 * 10.0) / 1e6)
    assert spent.duration_s == 2.0
