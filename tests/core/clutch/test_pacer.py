"""When the next start may happen: budgets stated and learned, Retry-After, quotas."""

from typing import NamedTuple

import pytest

from manyhands.core.clutch.clutch import Clutch
from manyhands.core.clutch.pacer import Bucket, Pacer
from manyhands.core.values.ending import EndingKind
from manyhands.core.values.host import Rate
from manyhands.core.values.host_memory import HostMemory
from manyhands.core.values.widths import Reading, Sample


def refusal(at: float, attempt: int, retry_after_s: float, quota: bool = False) -> Sample:
    return Sample(
        at=at,
        started_at=at - 0.1,
        attempt=attempt,
        kind="text",
        in_flight=4,
        width=4,
        ending=EndingKind.OVERLOADED,
        rate_limited=not quota,
        quota=quota,
        retry_after_s=retry_after_s,
    )


def starts_in(pacer: Pacer, seconds: float, kind: str = "text") -> int:
    """Start whenever the pacer allows, and count."""
    at, count = 0.0, 0
    while at < seconds:
        ready_at, _ = pacer.start_at(at, kind)
        if ready_at <= at:
            count += 1
            pacer.started(at, count, kind)
        else:
            at = ready_at + 1e-9
    return count


def test_a_configured_request_budget_paces_the_starts_and_never_bursts_a_minute() -> None:
    pacer = Pacer.begin(Rate(requests_per_minute=60), None)
    assert starts_in(pacer, 5) <= 7
    assert starts_in(Pacer.begin(Rate(requests_per_minute=60), None), 120) == pytest.approx(121, abs=1)


def test_a_configured_token_budget_counts_what_attempts_really_used() -> None:
    pacer = Pacer.begin(Rate(tokens_per_minute=6000), None)
    done = Sample(1.0, 0.0, 1, "text", 1, 1, EndingKind.DONE, tokens_in=800, tokens_out=200)
    pacer.started(0.0, 1, "text")
    pacer.done(done)
    ready_at, reason = pacer.start_at(1.0, "text")
    # 850 tokens overdrawn, 150 wanted before the next, 100 flow in a second.
    assert ready_at == pytest.approx(11.0, abs=0.1)
    assert reason == "paced to 6000 tokens per minute"


def test_retry_after_holds_every_start_until_it_is_over() -> None:
    pacer = Pacer.begin(None, None)
    pacer.started(0.0, 1, "text")
    pacer.refused(refusal(0.1, 1, retry_after_s=7))
    ready_at, reason = pacer.start_at(0.2, "text")
    assert ready_at == pytest.approx(7.1)
    assert "said to wait 7 s" in reason


def test_a_used_up_quota_pauses_until_its_reset_and_moves_no_width() -> None:
    clutch = Clutch.begin()
    clutch.started(0.0, 1, "text", 1)
    clutch.observe(refusal(0.1, 1, retry_after_s=28_800, quota=True))
    assert clutch.width == 4
    start_at, why = clutch.start_at(1.0, "text")
    assert start_at == pytest.approx(28_800.1)
    assert "quota" in why
    assert clutch.start_at(28_801, "text") == (28_801, "")


def test_the_accepted_rate_is_learned_from_what_flowed_in_between_refusals() -> None:
    pacer, budget = Pacer.begin(None, None), Bucket(per_s=2.0, burst=10.0, level=10.0)
    at, attempt, refused = 0.0, 0, 0
    while at < 600:
        pacer.tick(at, 0.25)
        ready_at, _ = pacer.start_at(at, "text")
        if ready_at <= at:
            attempt += 1
            pacer.started(at, attempt, "text")
            if budget.level_at(at) >= 1:
                budget.take(at, 1)
            else:
                refused += 1
                pacer.refused(refusal(at, attempt, retry_after_s=1))
        at += 0.25 if ready_at <= at else max(0.05, ready_at - at)
    assert pacer.known_per_s == pytest.approx(2.0, rel=0.05)
    assert refused / attempt <= 0.03


def test_budgets_in_headers_hold_whatever_was_configured() -> None:
    pacer = Pacer.begin(Rate(requests_per_minute=600), None)
    pacer.read(Reading(at=10.0, requests_per_minute=60, requests_left=0))
    assert pacer.start_at(10.0, "text")[0] == pytest.approx(11.0)


def test_a_kind_that_takes_more_tokens_takes_more_of_the_rate() -> None:
    pacer = Pacer.begin(None, None)
    for number in range(10):
        pacer.done(Sample(1.0, 0.0, number, "short", 1, 1, EndingKind.DONE, tokens_out=100))
        pacer.done(Sample(1.0, 0.0, number, "long", 1, 1, EndingKind.DONE, tokens_out=300))
    assert pacer.cost("short") == pytest.approx(0.5)
    assert pacer.cost("long") == pytest.approx(1.5)
    assert pacer.cost("never seen") == 1.0


def test_a_host_that_refuses_the_very_first_calls_teaches_no_rate() -> None:
    pacer = Pacer.begin(Rate(requests_per_minute=600), None)
    for attempt in (1, 2):
        pacer.started(attempt - 1.0, attempt, "text")
        pacer.refused(refusal(attempt - 0.9, attempt, retry_after_s=1))
    assert pacer.rate_per_s is None
    ready_at, _ = pacer.start_at(3.0, "text")
    assert ready_at == 3.0


class Outcome(NamedTuple):
    took_s: float
    refused: float  # share of all requests


def ask(pacer: Pacer, budget: Bucket, starts: int, began_at: float = 0.0, trip_s: float = 0.05) -> Outcome:
    """Send so many to a host that answers after `trip_s`, and send again what it refused."""
    at, attempt, accepted, refused = began_at, 10_000 * int(began_at), 0, 0
    answers: list[tuple[float, int, bool]] = []
    ticked_at = at
    while accepted < starts:
        pacer.tick(at, at - ticked_at)
        ticked_at = at
        while answers and answers[0][0] <= at:
            _, number, was_taken = answers.pop(0)
            accepted += was_taken
            if not was_taken:
                refused += 1
                pacer.refused(refusal(at, number, retry_after_s=1))
        while pacer.start_at(at, "text")[0] <= at and not (answers and answers[0][0] <= at):
            if accepted + sum(was_taken for _, _, was_taken in answers) >= starts:
                break
            attempt += 1
            pacer.started(at, attempt, "text")
            is_taken = budget.level_at(at) >= 1
            if is_taken:
                budget.take(at, 1)
            answers.append((at + trip_s, attempt, is_taken))
            at += 0.01  # one leaves after another
        at += 0.01
    return Outcome(at - began_at, refused / (refused + starts))


def test_a_rate_that_nobody_knows_is_found_within_seconds() -> None:
    outcome = ask(Pacer.begin(None, None), Bucket(per_s=10.0, burst=10.0, level=10.0), 200)
    assert outcome.took_s <= 1.12 * 19
    assert outcome.refused <= 0.07


def test_a_stated_rate_is_used_whole_and_nothing_is_refused() -> None:
    outcome = ask(Pacer.begin(Rate(requests_per_minute=600), None), Bucket(per_s=10.0, burst=10.0, level=10.0), 200)
    assert outcome.took_s <= 1.05 * 19
    assert outcome.refused <= 0.01


def test_one_refusal_does_not_undercut_a_stated_rate() -> None:
    pacer = Pacer.begin(Rate(requests_per_minute=600), None)
    ask(pacer, Bucket(per_s=10.0, burst=5.0, level=5.0), 30)
    assert pacer.refusals > 0
    assert pacer.rate_per_s is None


def test_a_stated_rate_that_the_host_keeps_refusing_is_doubted() -> None:
    pacer = Pacer.begin(Rate(requests_per_minute=600), None)
    outcome = ask(pacer, Bucket(per_s=4.0, burst=4.0, level=4.0), 200)
    assert pacer.known_per_s == pytest.approx(4.0, rel=0.1)
    assert outcome.refused <= 0.2


def test_a_host_that_saves_up_little_is_not_refused_after_every_pause() -> None:
    outcome = ask(Pacer.begin(None, None), Bucket(per_s=10.0, burst=4.0, level=4.0), 600)
    assert outcome.refused <= 0.1
    assert outcome.took_s <= 1.3 * 60  # what flows in during a pause is mostly lost there


def test_after_a_quiet_time_it_starts_again_with_all_that_the_host_has_saved_up() -> None:
    pacer, budget = Pacer.begin(None, None), Bucket(per_s=1.0, burst=40.0, level=40.0)
    ask(pacer, budget, 100)
    began_at = 1000.0
    outcome = ask(pacer, budget, 40, began_at)
    assert outcome.took_s <= 12
    assert outcome.refused <= 0.1


def test_the_next_run_begins_with_the_rate_and_the_burst_of_the_last() -> None:
    first, budget = Pacer.begin(None, None), Bucket(per_s=2.0, burst=20.0, level=20.0)
    ask(first, budget, 200)
    kept = HostMemory(8, 0, rate_per_s=first.rate_to_keep(), rate_s=first.known_s, burst=first.burst_to_keep())
    assert kept.rate_per_s == pytest.approx(2.0, rel=0.15)
    assert kept.burst == pytest.approx(20.0, rel=0.3)
    outcome = ask(Pacer.begin(None, kept), Bucket(per_s=2.0, burst=20.0, level=20.0), 60)
    assert outcome.took_s <= 1.15 * 20
    assert outcome.refused <= 0.05


def test_when_a_long_pause_ends_no_burst_leaves() -> None:
    pacer = Pacer.begin(None, HostMemory(8, 0, rate_per_s=2.0, rate_s=60.0, burst=12.0))
    starts_in(pacer, 5.0)
    pacer.started(5.0, 1000, "text")
    pacer.refused(refusal(5.1, 1000, retry_after_s=10))  # ends when one call fits
    assert pacer.start_at(14.0, "text")[0] == pytest.approx(15.1)
    count = 0
    while pacer.start_at(15.1, "text")[0] <= 15.1:
        count += 1
        pacer.started(15.1, 2000 + count, "text")
    assert count <= 3


def test_a_host_that_accepts_nothing_between_two_refusals_is_still_asked_at_a_quarter_of_the_guess() -> None:
    pacer = Pacer.begin(None, None)
    for attempt in range(20):
        pacer.started(0.1 * attempt, attempt, "text")
    pacer.refused(refusal(2.0, 19, retry_after_s=1))
    guess = pacer.rate_per_s
    assert guess is not None
    pacer.started(3.5, 100, "text")
    pacer.refused(refusal(3.6, 100, retry_after_s=1))
    assert pacer.rate_per_s is not None
    assert pacer.rate_per_s >= 0.2 * guess
