"""Tasks that want their host alone: nothing overlaps them there, and neither they nor the others starve."""

from collections.abc import Callable

import pytest

from helpers import Player, a_host, a_task, writes
from manyhands.core import events as ev
from manyhands.core.values.host import Rule


def test_a_barrier_waits_for_its_host_to_empty_and_nothing_overlaps_it() -> None:
    player = Player(a_host(width=3))
    player.open(a_task("a"), a_task("b"))
    player.add(a_task("alone", barrier=True), *(a_task(f"t{n}") for n in range(4)))
    assert player.running == ["a", "b"]
    player.end("a")
    assert player.running == ["b"], "the host empties for it"
    player.end("b")
    assert player.running == ["alone"]
    player.end("alone")
    assert player.running == ["t0", "t1", "t2"]
    assert player.book.hosts["local"].peak == 3


def test_other_hosts_go_on_while_one_empties() -> None:
    player = Player(a_host("one", width=2, kinds=("code",)), a_host("two", width=2, kinds=("text",)))
    player.open(*(a_task(f"c{n}") for n in range(2)))
    player.add(a_task("alone", barrier=True), *(a_task(f"t{n}", kind="text") for n in range(4)))
    assert player.running == ["c0", "c1", "t0", "t1"]
    player.end("t0", "c0")
    assert player.running == ["c1", "t1", "t2"]


def test_a_steady_stream_of_heavier_tasks_of_its_kind_does_not_starve_it() -> None:
    player = Player(a_host(width=2))
    player.open(a_task("a"), a_task("b"))
    player.add(a_task("alone", barrier=True))
    turn = 0
    while "alone" not in player.started:
        player.add(a_task(f"root{turn}"), a_task(f"leaf{turn}", needs=(f"root{turn}",)))
        player.end(player.running[0])
        turn += 1
        assert turn < 10
    assert len(player.started) == 3


def test_many_barriers_do_not_starve_the_others() -> None:
    player = Player(a_host(width=2))
    player.open(*(t for n in range(5) for t in (a_task(f"alone{n}", barrier=True), a_task(f"t{n}"))))
    player.run_to_end()
    assert sorted(player.started[:4]) == ["alone0", "alone1", "t0", "t1"]
    assert player.book.runs["r"].counts["done"] == 10


def test_more_urgent_tasks_may_go_before_a_waiting_barrier_and_never_beside_a_running_one() -> None:
    player = Player(a_host(width=2))
    player.open(a_task("a"), a_task("b"))
    player.add(a_task("alone", barrier=True))
    player.end("a")
    player.add(a_task("same"), a_task("urgent", priority=1))
    assert player.running == ["b", "urgent"]
    player.end("b", "urgent")
    assert player.running == ["alone"]
    player.add(a_task("critical", priority=0))
    assert player.running == ["alone"]


@pytest.mark.parametrize(
    "event",
    [
        lambda at: ev.CancelAsked(at, "r", "alone"),
        lambda at: ev.CancelAsked(at, "r"),
        lambda at: ev.DeferAsked(at, "r", "alone"),
        lambda at: ev.RunDrained(at, "r"),
        lambda at: ev.HostsConfigured(at, (a_host(width=2),), (Rule("audit", "never*"), Rule("audit", "code"))),
    ],
)
def test_a_host_does_not_stand_empty_for_a_task_that_will_not_come(event: Callable[[float], ev.Input]) -> None:
    player = Player(a_host(width=2))
    player.open(a_task("a"), a_task("b"), run="s")
    player.open(a_task("alone", kind="audit", barrier=True), a_task("code", deferred=True), run="r")
    player.add(a_task("c"), run="s")
    player.end("a")
    assert player.running == ["b"]
    player.play(event(player.at))
    assert player.running == ["b", "c"]


def test_a_barrier_that_finds_another_host_empty_first_leaves_none_standing_empty() -> None:
    player = Player(a_host("one", width=2), a_host("two", width=2))
    player.open(*(a_task(f"t{n}") for n in range(4)))
    player.add(a_task("alone", barrier=True), *(a_task(f"u{n}") for n in range(4)))
    on_two = [one.record.task.id for one in player.book.running.values() if one.host.name == "two"]
    player.end(*on_two)
    player.run_to_end()
    assert player.book.runs["r"].counts["done"] == 9
    assert [host.kept_for for host in player.book.hosts.values()] == [None, None]


def test_a_longer_chain_that_arrives_behind_the_same_barrier_does_not_lock_both_out() -> None:
    player = Player(a_host(width=2))
    player.open(a_task("a"), a_task("b"))
    player.add(a_task("alone", barrier=True))
    player.add(a_task("alone-root", barrier=True), a_task("leaf", needs=("alone-root",)))
    player.run_to_end()
    assert player.book.runs["r"].counts["done"] == 5


def test_a_barrier_and_a_reserved_claim_do_not_wait_for_each_other() -> None:
    player = Player(a_host(width=2))
    player.open(*(a_task(f"s{n}", claims=writes(f"src/{n % 5}")) for n in range(40)))
    player.add(a_task("wide", claims=writes("src/**")))
    player.add(a_task("alone", barrier=True, claims=writes("src/0")))
    player.run_to_end()
    assert player.book.runs["r"].counts["done"] == 42


def test_no_host_empties_for_a_task_that_it_could_never_take() -> None:
    player = Player(a_host("small", width=2, resources={"gpu": 1.0}), a_host("large", width=2, resources={"gpu": 4.0}))
    player.open(a_task("a", host="large"), a_task("b", host="large"))
    player.add(
        a_task("alone", barrier=True, resources={"gpu": 4.0}), *(a_task(f"t{n}", host="small") for n in range(3))
    )
    player.add(a_task("c", host="large"))
    assert player.book.hosts["small"].kept_for is None
    assert sorted(player.running) == ["a", "b", "t0", "t1"]
    player.end("a", "b")
    assert "alone" in player.running
