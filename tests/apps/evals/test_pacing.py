"""What starts when: never more than may, arms taking turns one at a time, and together where there is room."""

import random

from hypothesis import given
from hypothesis import strategies as st

from apps.evals.specs import a_spec
from manyhands.apps.evals.pacing import SessionPacer, SessionTurn
from manyhands.apps.evals.spec.ordering import units_of


def played(pacer: SessionPacer, draw: random.Random, fails: float = 0.0) -> list[list[SessionTurn]]:
    """Ends what is in flight in any order; what started together."""
    started = pacer.start()
    while pacer.in_flight:
        assert len(pacer.in_flight) <= pacer.at_once
        pacer.ended(draw.choice(list(pacer.in_flight)), well=draw.random() >= fails)
        started += pacer.start()
    assert pacer.is_over
    return started


def short(turns: list[SessionTurn]) -> str:
    return " ".join(f"{turn.trial.arm}{turn.session}" for turn in turns)


def test_one_at_a_time_the_arms_alternate_session_by_session() -> None:
    spec = a_spec(2, 1, 1, order="swap")
    pacer = SessionPacer(units_of(spec), sessions=2, at_once=1)
    assert [short(turns) for turns in played(pacer, random.Random(1))] == ["a1", "b1", "a2", "b2"]


def test_with_room_for_all_arms_they_start_together_session_by_session() -> None:
    spec = a_spec(3, 2, 1, order="swap")
    pacer = SessionPacer(units_of(spec), sessions=2, at_once=6)
    started = played(pacer, random.Random(1))
    assert sorted(short(turns) for turns in started) == ["a1 b1 c1", "a2 b2 c2", "b1 c1 a1", "b2 c2 a2"]


def test_a_pair_that_does_not_fit_waits_for_room_for_both() -> None:
    pacer = SessionPacer(units_of(a_spec(2, 3, 1, order="swap")), sessions=1, at_once=3)
    first, *more = pacer.start()
    assert (short(first), more) == ("a1 b1", [])
    assert pacer.free == 1
    pacer.ended(first[0], well=True)
    assert [short(turns) for turns in pacer.start()] == ["b1 a1"]


def test_after_a_session_that_fails_the_later_ones_of_its_trial_are_not_begun() -> None:
    pacer = SessionPacer(units_of(a_spec(2, 1, 1, order="swap")), sessions=3, at_once=1)
    (a1,) = pacer.start()
    pacer.ended(a1[0], well=False)
    assert [short(turns) for turns in played(pacer, random.Random(1))] == ["b1", "b2", "b3"]


def test_other_work_takes_places_too() -> None:
    pacer = SessionPacer(units_of(a_spec(2, 2, 1)), sessions=1, at_once=2)
    assert pacer.take_place()
    assert pacer.start() == []
    pacer.give_place()
    assert len(pacer.start()) == 1
    assert not pacer.take_place()


def test_what_was_put_back_starts_again() -> None:
    pacer = SessionPacer(units_of(a_spec(2, 1, 1, order="swap")), sessions=1, at_once=2)
    (pair,) = pacer.start()
    for turn in pair:
        pacer.put_back(turn)
    assert pacer.start() == [pair]


def test_what_was_over_before_is_not_done_again() -> None:
    units = units_of(a_spec(2, 2, 1, order="swap"))
    over = [SessionTurn(units[0].trials[0], 1), SessionTurn(units[0].trials[1], 1), SessionTurn(units[0].trials[0], 2)]
    pacer = SessionPacer(units, sessions=2, at_once=1, over=over)
    assert [short(turns) for turns in played(pacer, random.Random(1))] == ["b2", "b1", "a1", "b2", "a2"]


@given(
    st.integers(1, 4), st.integers(1, 4), st.integers(1, 3), st.integers(1, 9), st.integers(0, 10_000), st.booleans()
)
def test_every_session_is_begun_once_whatever_ends_when(
    arms: int, cases: int, sessions: int, at_once: int, seed: int, interleave: bool
) -> None:
    spec = a_spec(arms, cases, 2, seed=seed, interleave=interleave)
    pacer = SessionPacer(units_of(spec), sessions, at_once)
    started = played(pacer, random.Random(seed))
    turns = [turn for together in started for turn in together]
    assert len(turns) == len(set(turns)) == arms * cases * 2 * sessions
    if interleave and at_once >= arms:
        assert {len(together) for together in started} == {arms}
    for trial in {turn.trial for turn in turns}:
        assert [turn.session for turn in turns if turn.trial == trial] == list(range(1, sessions + 1))
