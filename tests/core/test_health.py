"""Hosts that take nothing for now are left alone, and tried again one attempt at a time."""

from itertools import pairwise

from helpers import Player, a_host, a_task
from manyhands.core.explain import explain
from manyhands.core.values.ending import Ending, EndingKind

GONE = Ending(EndingKind.OVERLOADED, "connection refused")
SPENT = Ending(EndingKind.OVERLOADED, "quota used up", quota=True)


def test_a_dead_host_is_tried_by_one_attempt_at_a_time_and_taken_up_again_when_it_answers() -> None:
    player = Player(a_host(width=4))
    player.open(*(a_task(f"t{n}", attempts=1) for n in range(40)))
    tried = 0
    for _ in range(2000):  # half an hour and more
        if player.at > 1800:
            break
        tried += len(player.running)
        player.end(*player.running, ending=GONE, after_s=0.1)
        player.wait(1.0)
    assert 11 + 20 <= tried <= 11 + 60, "a burst at first, then hardly more than once a minute"
    assert player.book.runs["r"].counts["failed"] == 0  # type: ignore[index]
    player.wait(61.0)
    assert len(player.running) == 1
    player.end(*player.running)
    assert len(player.running) == 4
    while player.book.runs["r"].unfinished:
        player.end(*player.running)
        player.wait(61.0)
    assert player.book.runs["r"].counts["done"] == 40  # type: ignore[index]


def test_a_host_that_is_merely_full_is_not_left_alone() -> None:
    player = Player(a_host(width=4))
    player.open(*(a_task(f"t{n}") for n in range(30)))
    for _ in range(20):
        first, *others = player.running
        player.end(*others[:2], ending=GONE)
        player.end(first)
    assert player.book.hosts["local"].paused is None


def test_a_host_whose_quota_is_used_up_is_asked_again_ever_more_rarely() -> None:
    player = Player(a_host(width=2))
    player.open(a_task("a", attempts=1), a_task("b", attempts=1))
    asked_at = []
    while player.at < 4 * 3600:
        if player.running:
            asked_at.append(player.at)
            player.end(*player.running, ending=SPENT, after_s=0.1)
        player.wait(30.0)
    gaps = [round(later - earlier) for earlier, later in pairwise(asked_at)]
    assert gaps[0] >= 60
    assert max(gaps) <= 3700
    assert gaps == sorted(gaps)
    assert 5 <= len(asked_at) <= 12


def test_a_quota_that_says_when_it_comes_back_pauses_the_host_until_then() -> None:
    player = Player(a_host(width=1))
    player.open(a_task("a"), a_task("b"))
    player.end("a", ending=Ending(EndingKind.OVERLOADED, "spent", quota=True, retry_after_s=900.0))
    player.wait(899.0)
    assert player.running == []
    player.wait(2.0)
    assert player.running != []


def test_an_outage_of_a_second_costs_a_wide_host_one_second() -> None:
    player = Player(a_host(width=64))
    player.open(*(a_task(f"t{n}") for n in range(600)))
    host = player.book.hosts["local"]
    while host.paused is None:
        player.end(*player.running, ending=GONE, after_s=0.2)
    assert player.running == []  # all that was in flight was refused, most of it after the host was paused
    assert (host.trials, host.paused_until) == (1, player.at + 1.0)
    player.wait(1.5)
    player.end(*player.running)
    assert len(player.running) == 64


def test_retry_after_holds_a_pinned_host_too() -> None:
    player = Player(a_host(width=4))
    player.open(*(a_task(f"t{n}") for n in range(8)))
    refused = Ending(EndingKind.OVERLOADED, "rate limited", rate_limited=True, retry_after_s=7.0)
    player.end(player.running[0], ending=refused)
    assert len(player.running) == 3
    why = explain(player.book, player.book.runs["r"].records["t7"], player.at)
    assert any("said to wait 7 s" in str(each) for each in why)
    player.wait(6.5)
    assert len(player.running) == 3
    player.wait(0.6)
    assert len(player.running) == 4
