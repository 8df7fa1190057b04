"""Several hosts for one kind: the soonest expected finish, waiting for a slot included."""

import itertools

import pytest

from helpers import Player, a_host, a_task
from manyhands.core import events as ev
from manyhands.core.values.ending import Ending, EndingKind


def host_of(player: Player, id: str) -> str:
    return next(one.host.name for one in player.book.running.values() if one.record.task.id == id)


def with_known_speeds(fast_s: float, slow_s: float, **slow: object) -> Player:
    """Two hosts of width 1 that have shown how long they take."""
    player = Player(a_host("fast"), a_host("slow", **slow))
    player.open(a_task("f", host="fast"), a_task("s", host="slow"))
    player.end("f", after_s=fast_s)
    player.end("s", after_s=slow_s - fast_s)
    return player


def test_a_task_goes_only_to_a_host_that_takes_its_kind_and_form() -> None:
    player = Player(
        a_host("text", width=4, kinds=("text",)),
        a_host("models", width=4, takes=("prompt",)),
        a_host("code", kinds=("co*",), takes=("run",)),
    )
    player.open(a_task("a"), a_task("b"), a_task("p", run=(), prompt="hello"))
    assert [(id, host_of(player, id)) for id in player.running] == [("a", "code"), ("p", "models")]


def test_a_task_that_names_its_host_waits_for_it() -> None:
    player = Player(a_host("one"), a_host("two"))
    player.open(a_task("a", host="two"), a_task("b", host="two"))
    assert player.running == ["a"]
    assert host_of(player, "a") == "two"


def test_hosts_that_are_unknown_share_the_work_by_their_free_slots() -> None:
    player = Player(a_host("one", width=2), a_host("two", width=2))
    player.open(*(a_task(f"t{n}") for n in range(4)))
    assert [len(host.running) for host in player.book.hosts.values()] == [2, 2]


def test_the_faster_host_goes_first() -> None:
    player = with_known_speeds(2.0, 5.0)
    player.add(a_task("a"))
    assert host_of(player, "a") == "fast"


def test_a_task_waits_for_a_much_faster_host_and_starts_there() -> None:
    player = with_known_speeds(2.0, 60.0)
    player.add(a_task("a"))
    player.add(a_task("b"))
    assert player.running == ["a"], "the slow host is free, and waiting 2 s beats 60 s"
    player.end("a", after_s=2.0)
    assert host_of(player, "b") == "fast"


def test_a_task_does_not_wait_where_the_wait_costs_more_than_it_gains() -> None:
    player = with_known_speeds(10.0, 15.0)
    player.add(a_task("a"), a_task("b"))
    assert sorted(host_of(player, id) for id in player.running) == ["fast", "slow"]


def test_a_slower_host_does_not_stand_idle_while_more_wait_than_the_faster_one_can_take_in_time() -> None:
    player = with_known_speeds(2.0, 10.0)
    player.add(*(a_task(f"t{n}") for n in range(8)))
    assert sorted(host_of(player, id) for id in player.running) == ["fast", "slow"]


def test_the_last_few_wait_for_the_faster_host() -> None:
    player = with_known_speeds(2.0, 10.0)
    player.add(*(a_task(f"t{n}") for n in range(3)))
    assert [host_of(player, id) for id in player.running] == ["fast"], "2, 4 and 6 s there beat 10 s here"


def test_a_task_does_not_wait_for_ever_for_a_slot_that_does_not_come() -> None:
    player = with_known_speeds(2.0, 20.0)
    player.add(a_task("a"))
    commands = player.add(a_task("b"))
    wakes = 0
    while "b" not in player.running:
        alarm = commands[-1].at
        assert alarm > player.at
        commands = player.wait(alarm - player.at)
        wakes += 1
        assert wakes < 20
    assert player.at < 22.0 + 20.0 + 2.0
    assert host_of(player, "b") == "slow"


def test_a_stream_that_keeps_the_fast_host_busy_does_not_hold_a_task_back_for_ever() -> None:
    player = Player(a_host("fast", width=2, resources={"gpu": 2.0}), a_host("slow", resources={"gpu": 2.0}))
    player.open(a_task("f", host="fast"), a_task("s", host="slow"))
    player.end("f", after_s=2.0)
    player.end("s", after_s=18.0)
    player.add(a_task("u1", host="fast", resources={"gpu": 1.0}), a_task("u2", host="fast", resources={"gpu": 1.0}))
    player.add(a_task("big", resources={"gpu": 2.0}))
    for turn in range(40):
        if "big" in player.running:
            break
        player.add(a_task(f"v{turn}", host="fast", resources={"gpu": 1.0}, priority=1))
        player.end(next(id for id in player.running if id != "big"))
    assert turn <= 20
    assert "big" in player.running


def test_fallback_hosts_take_what_no_other_has_room_for_in_slots_of_their_own() -> None:
    player = Player(a_host("usual", width=2), a_host("spare", width=1, fallback=True))
    player.open(*(a_task(f"t{n}") for n in range(5)))
    assert [host_of(player, f"t{n}") for n in range(3)] == ["usual", "usual", "spare"]
    assert len(player.running) == 3
    player.end("t0")
    assert host_of(player, "t3") == "usual"
    player.run_to_end()
    assert [host.peak for host in player.book.hosts.values()] == [2, 1]


def test_a_fallback_host_takes_over_while_the_usual_one_is_paused() -> None:
    player = Player(a_host("usual", width=2), a_host("spare", width=1, fallback=True))
    player.play(ev.HostPaused(player.at, "usual", "quota"))
    player.open(a_task("a"), a_task("b"))
    assert [host_of(player, id) for id in player.running] == ["spare"]


def test_a_host_taken_out_of_the_config_settles_what_runs_and_takes_nothing_more() -> None:
    player = Player(a_host("one"), a_host("two"))
    player.open(*(a_task(f"t{n}") for n in range(4)))
    player.play(ev.HostsConfigured(player.at, (a_host("two"),)))
    assert len(player.running) == 2
    player.play(ev.HostResumed(player.at, "one"))
    player.end(*player.running)
    assert [host_of(player, id) for id in player.running] == ["two"]
    player.play(ev.HostsConfigured(player.at, (a_host("one"), a_host("two"))))
    assert len(player.running) == 2


def test_a_new_host_takes_what_waits() -> None:
    player = Player(a_host("one"))
    player.open(a_task("a"), a_task("b"), a_task("t", kind="text"))
    player.play(ev.HostsConfigured(player.at, (a_host("one"), a_host("two", width=2))))
    assert sorted(player.running) == ["a", "b", "t"]


def test_among_a_thousand_hosts_starts_are_spread_and_fallbacks_come_last() -> None:
    hosts = [a_host(f"h{n}", 2) for n in range(100)] + [a_host("spare", 2, fallback=True)]
    player = Player(*hosts)
    player.open(*(a_task(f"t{n}") for n in range(150)))
    in_flight = [len(host.running) for host in player.book.hosts.values()]
    assert sorted(in_flight, reverse=True) == [2] * 50 + [1] * 50 + [0], "one everywhere before two anywhere"
    player.add(*(a_task(f"u{n}") for n in range(60)))
    assert len(player.book.hosts["spare"].running) == 2
    assert len(player.book.running) == 202
    player.end("t0", "t1", "t2")
    assert len(player.book.running) == 202, "places that become free are taken in the same breath"


def test_a_task_with_a_choice_leaves_the_last_slot_to_one_that_has_none() -> None:
    player = Player(a_host("both"), a_host("other", kinds=("code",)))
    player.open(a_task("free"), a_task("bound", kind="text"))
    assert {id: host_of(player, id) for id in player.running} == {"free": "other", "bound": "both"}


def test_a_host_with_room_for_all_is_not_kept_free() -> None:
    player = Player(a_host("both", width=3), a_host("other", kinds=("code",)))
    player.open(a_task("free"), a_task("bound", kind="text"))
    assert {id: host_of(player, id) for id in player.running} == {"free": "both", "bound": "both"}


def test_a_much_slower_host_is_not_taken_to_make_room() -> None:
    """On the fast host the task ends in 2 s, and the other waits 2 s. The slow one would take 60 s."""
    player = with_known_speeds(2.0, 60.0, kinds=("code",))
    player.add(a_task("free"), a_task("bound", kind="text"))
    assert host_of(player, "free") == "fast"
    player.end("free", after_s=2.0)
    assert host_of(player, "bound") == "fast"


def test_a_task_that_cannot_start_anyway_needs_no_host() -> None:
    player = Player(a_host("both"), a_host("other", kinds=("code",)))
    player.open(a_task("late", kind="text"), run="stopped")
    player.play(ev.RunStopped(player.at, "stopped"))
    player.end("late", ending=Ending(EndingKind.CANCELLED))
    player.open(a_task("free"))
    assert host_of(player, "free") == "both"


@pytest.mark.parametrize("order", list(itertools.permutations("abc")))
def test_among_equal_hosts_a_task_leaves_those_that_more_others_can_use(order: tuple[str, ...]) -> None:
    kinds = {"a": ("code", "text", "x"), "b": ("code", "x"), "c": ("x",)}
    player = Player(*(a_host(name, kinds=kinds[name]) for name in order))
    player.open(a_task("free", kind="x"), a_task("two", kind="code"), a_task("one", kind="text"))
    assert {id: host_of(player, id) for id in player.running} == {"free": "c", "two": "b", "one": "a"}


def test_a_faster_or_emptier_host_is_taken_though_more_others_can_use_it() -> None:
    hosts = (a_host("b", 4, kinds=("code", "x")), a_host("c", 4, kinds=("x",)), a_host("a", 4))
    player = Player(*hosts)
    player.open(a_task("first", kind="x", host="c"), a_task("free", kind="x"), a_task("two", kind="code"))
    assert host_of(player, "free") != "c"
