"""How attempts end, and what follows: another try, when, or the end of the task."""

import pytest

from helpers import Player, a_host, a_task
from manyhands.core import events as ev
from manyhands.core.commands import StartAttempt, StopAttempt, WakeAt
from manyhands.core.retry import DELAY_FIRST_S, DELAY_LONGEST_S, SETBACKS_MAX, delay_s
from manyhands.core.values.ending import Ending, EndingKind

FAILED = Ending(EndingKind.FAILED, "exit 1", exit_code=1)
BUSY = Ending(EndingKind.OVERLOADED, "503")


def until(player: Player, id: str) -> float:
    return player.book.runs["r"].records[id].until


def test_a_failed_attempt_is_tried_again_after_a_delay_until_none_is_left() -> None:
    player = Player()
    player.open(a_task("a", attempts=3))
    for _ in range(2):
        player.end("a", ending=FAILED)
        assert player.state("a") == "backoff"
        player.wait(0.01)
        assert player.state("a") == "backoff"
        player.wait(until(player, "a") - player.at)
        assert player.running == ["a"]
    player.end("a", ending=FAILED)
    assert player.state("a") == "failed"
    assert player.cause("a") == "exit 1"
    assert player.started == ["a", "a", "a"]


def test_the_core_asks_to_be_woken_when_the_delay_is_over() -> None:
    player = Player()
    player.open(a_task("a"))
    commands = player.end("a", ending=FAILED)
    assert commands == [WakeAt(until(player, "a"))]


def test_an_alarm_that_goes_off_early_is_set_again() -> None:
    player = Player()
    player.open(a_task("a"))
    alarm = player.end("a", ending=FAILED)[0]
    assert player.wait(0.01) == [alarm]


def test_delays_double_from_the_first_to_the_longest_and_are_spread_by_the_seed() -> None:
    delays = [delay_s(FAILED, n, 0, seed=7, task="a") for n in range(1, 12)]
    for n, delay in enumerate(delays):
        longest = min(DELAY_LONGEST_S, DELAY_FIRST_S * 2**n)
        assert longest / 2 <= delay < longest
    assert delays == [delay_s(FAILED, n, 0, seed=7, task="a") for n in range(1, 12)]
    assert delays != [delay_s(FAILED, n, 0, seed=8, task="a") for n in range(1, 12)]
    together = {round(delay_s(FAILED, 1, 0, seed=7, task=f"t{n}"), 3) for n in range(100)}
    assert len(together) > 50, "tasks that fell together do not come back together"


def test_a_host_that_says_when_to_come_back_is_believed() -> None:
    player = Player()
    player.open(a_task("a"))
    player.end("a", ending=Ending(EndingKind.OVERLOADED, "429", retry_after_s=30.0))
    assert until(player, "a") == player.at + 30.0


def test_an_overload_costs_no_attempt_but_a_task_that_only_it_befalls_is_given_up() -> None:
    player = Player(a_host(width=2, lanes={"other": 1}))
    player.open(a_task("a", attempts=1), *(a_task(f"other{n}", kind="other") for n in range(SETBACKS_MAX + 1)))
    for _ in range(SETBACKS_MAX - 1):
        player.end("a", ending=BUSY)
        assert player.state("a") == "backoff"
        player.end(next(id for id in player.running if id != "a"))  # the host answers
        player.wait(until(player, "a") - player.at)
    player.end("a", ending=BUSY)
    assert player.state("a") == "failed"
    assert player.started.count("a") == SETBACKS_MAX


def test_a_quota_that_is_used_up_is_waited_for_as_often_as_it_takes() -> None:
    player = Player(a_host())
    player.open(a_task("a", attempts=1))
    spent = Ending(EndingKind.OVERLOADED, "quota used up", quota=True, retry_after_s=3600.0)
    for _ in range(SETBACKS_MAX + 3):
        player.end("a", ending=spent)
        assert player.state("a") == "ready", "another host may take it at once"
        assert player.running == []
        player.wait(3601)
    assert player.run_to_end()[-1] == "a"
    assert player.state("a") == "done"


def test_a_permanent_failure_is_not_tried_again() -> None:
    player = Player()
    player.open(a_task("a", attempts=5))
    player.end("a", ending=Ending(EndingKind.FAILED, "no such model", permanent=True))
    assert player.state("a") == "failed"


def test_a_lost_attempt_is_not_counted_and_tried_again_at_once() -> None:
    player = Player()
    player.open(a_task("a", attempts=1))
    player.end("a", ending=Ending(EndingKind.LOST))
    assert player.running == ["a"]
    assert player.book.runs["r"].records["a"].tries == 0


def test_the_next_attempt_is_told_how_the_last_one_ended() -> None:
    player = Player()
    first = player.open(a_task("a"))[0]
    assert isinstance(first, StartAttempt)
    assert (first.number, first.last) == (1, None)
    player.end("a", ending=FAILED)
    second = player.wait(60.0)[0]
    assert isinstance(second, StartAttempt)
    assert (second.number, second.last) == (2, FAILED)


def test_an_ending_told_twice_is_recorded_once() -> None:
    player = Player(a_host(width=2))
    player.open(a_task("a", attempts=2), a_task("b"))
    attempt = player.attempt_of("a")
    player.end("a", ending=FAILED)
    player.play(ev.AttemptEnded(player.at, attempt, FAILED), ev.AttemptEnded(player.at, 999, FAILED))
    record = player.book.runs["r"].records["a"]
    assert (record.tries, len(record.history or ())) == (1, 1)
    assert player.state("a") == "backoff"


def test_an_attempt_that_takes_too_long_is_stopped_and_counts() -> None:
    player = Player()
    commands = player.open(a_task("a", timeout=10.0, attempts=1))
    assert WakeAt(10.0) in commands
    assert player.wait(9.9) == [WakeAt(10.0)]
    assert player.wait(0.1) == [StopAttempt(1)]
    player.end("a", ending=Ending(EndingKind.FAILED, "killed", tail="the last words"))
    assert player.state("a") == "failed"
    ending = player.book.runs["r"].records["a"].last_ending
    assert ending is not None
    assert (ending.kind, ending.detail, ending.tail) == (
        EndingKind.TIMED_OUT,
        "took longer than 10 s",
        "the last words",
    )


def test_each_attempt_has_the_whole_time_out() -> None:
    player = Player()
    player.open(a_task("a", timeout=10.0))
    player.end("a", ending=FAILED, after_s=8.0)
    player.wait(until(player, "a") - player.at)
    assert player.wait(9.9)[0:] == [WakeAt(until(player, "a") + 10.0)]
    assert isinstance(player.wait(0.1)[0], StopAttempt)


def test_an_attempt_that_ends_by_itself_as_if_stopped_has_failed() -> None:
    player = Player()
    player.open(a_task("a", attempts=1))
    player.end("a", ending=Ending(EndingKind.CANCELLED))
    assert player.state("a") == "failed"


def test_timers_of_attempts_that_ended_long_ago_do_not_pile_up() -> None:
    player = Player(a_host(width=50))
    player.open(*(a_task(f"t{n}", timeout=3600.0) for n in range(5000)))
    while player.book.running:
        player.at += 0.01
        player.scheduler.handle([ev.AttemptEnded(player.at, n, Ending(EndingKind.DONE)) for n in player.book.running])
    assert len(player.book._timers) < 2500
    assert player.book.next_timer() is None


@pytest.mark.parametrize("wish", [ev.CancelAsked, ev.DeferAsked])
def test_a_wish_that_comes_with_the_ending_is_not_undone_by_the_retry(wish: type) -> None:
    player = Player()
    player.open(a_task("a"))
    player.play(ev.AttemptEnded(1.0, player.attempt_of("a"), Ending(EndingKind.LOST)), wish(1.0, "r", "a"))
    assert player.state("a") in ("cancelled", "deferred")
    assert player.running == []


def test_a_backoff_is_waited_out_though_an_old_time_out_comes_due_in_the_same_batch() -> None:
    player = Player()
    player.open(a_task("a", timeout=10.0))
    player.play(ev.AttemptEnded(9.0, 1, FAILED), ev.Woke(10.0))
    assert player.state("a") == "backoff"
