"""Conflicting claims never overlap in time, and a wide one gets its turn in the end."""

from collections.abc import Callable

import pytest

from helpers import Player, a_host, a_task, writes
from manyhands.core import events as ev
from manyhands.core.starting import BYPASSES_MAX
from manyhands.core.values.task import Claims


def test_writers_of_one_path_take_turns_though_they_come_in_the_same_instant() -> None:
    player = Player(a_host(width=8))
    player.open(*(a_task(f"w{n}", claims=writes("src/x.py")) for n in range(4)), a_task("free", claims=writes("y")))
    assert player.running == ["w0", "free"]
    assert player.run_to_end() == ["w0", "free", "w1", "w2", "w3"]


def test_readers_run_together_and_a_writer_waits_for_all_of_them() -> None:
    player = Player(a_host(width=8))
    player.open(*(a_task(f"r{n}", claims=Claims(read=("src/**",))) for n in range(3)))
    player.add(a_task("w", claims=writes("src/x.py")))
    assert player.running == ["r0", "r1", "r2"]
    player.end("r0", "r1")
    assert player.state("w") == "ready"
    player.end("r2")
    assert player.running == ["w"]


def test_appenders_run_together_but_not_with_readers() -> None:
    player = Player(a_host(width=8))
    player.open(
        a_task("a1", claims=Claims(append=("CHANGELOG.md",))),
        a_task("a2", claims=Claims(append=("CHANGELOG.md",))),
        a_task("r", claims=Claims(read=("CHANGELOG.md",))),
    )
    assert player.running == ["a1", "a2"]


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        ("src/auth", "src/auth/keys.py", False),
        ("src/auth/", "src/auth/keys.py", False),
        ("src/*.py", "src/x.py", False),
        ("src/**/test_*", "src/a/b/test_c", False),
        ("db:main", "db:main", False),
        ("src/auth", "src/authors", True),
        ("src/*.py", "src/a/x.py", True),
        ("db:main", "db:other", True),
        ("db:main", "**", True),
    ],
)
def test_paths_prefixes_globs_and_resources_exclude_each_other_as_they_meet(
    one: str, other: str, together: bool
) -> None:
    player = Player(a_host(width=2))
    player.open(a_task("one", claims=writes(one)), a_task("other", claims=writes(other)))
    assert len(player.running) == (2 if together else 1)


def test_a_command_that_declares_nothing_has_the_workspace_to_itself() -> None:
    player = Player(a_host(width=4))
    player.open(a_task("a", claims=None), a_task("b", claims=None), a_task("own", claims=None, workspace="elsewhere"))
    assert player.running == ["a", "own"]


def test_claims_hold_across_hosts_and_runs() -> None:
    player = Player(a_host("one"), a_host("two"))
    player.open(a_task("a", claims=writes("src")), run="r")
    player.open(a_task("b", claims=writes("src/x")), run="s")
    assert player.running == ["a"]
    player.end("a")
    assert player.running == ["b"]


def test_a_wide_claim_among_a_steady_stream_of_small_ones_starts_after_a_bounded_number_of_starts() -> None:
    width = 4
    player = Player(a_host(width=width))
    player.open(*(a_task(f"s{n}", claims=writes(f"src/{n % 7}")) for n in range(20)))
    player.add(a_task("wide", claims=writes("src/**")))
    turn = 0
    while "wide" not in player.started:
        turn += 1
        player.add(*(a_task(f"more{turn}-{n}", claims=writes(f"src/{n}")) for n in range(2)))
        player.end(player.running[turn % len(player.running)])
        assert turn < 100, "it was passed over without end"
    assert player.started.index("wide") <= width * (BYPASSES_MAX + 2)
    player.run_to_end()
    assert player.book.runs["r"].counts["done"] == 21 + 2 * turn
    assert player.book.ready.reservations == []


def a_reserved_run() -> Player:
    """Run `r` has a wide task that was passed over so often that the claims are kept for it."""
    player = Player(a_host(width=2))
    player.open(*(a_task(f"s{n}", claims=writes(f"src/{n % 5}")) for n in range(40)))
    player.add(a_task("wide", claims=writes("src/**")))
    while not player.book.ready.reservations:
        player.end(player.running[0])
    return player


@pytest.mark.parametrize(
    "event",
    [
        lambda at: ev.RunDrained(at, "r"),
        lambda at: ev.CancelAsked(at, "r"),
        lambda at: ev.CancelAsked(at, "r", "wide"),
        lambda at: ev.DeferAsked(at, "r", "wide"),
    ],
)
def test_claims_are_not_kept_for_a_task_that_will_not_start(event: Callable[[float], ev.Input]) -> None:
    player = a_reserved_run()
    player.open(a_task("other", claims=writes("src/9"), priority=3), run="t")
    player.play(event(player.at))
    player.run_to_end()
    assert player.state("other", run="t") == "done"


def test_claims_are_not_kept_for_a_task_whose_host_is_paused() -> None:
    player = Player(a_host("one", width=2, kinds=("code",)), a_host("two", width=2, kinds=("text",)))
    player.open(*(a_task(f"s{n}", claims=writes(f"src/{n % 5}")) for n in range(40)))
    player.add(a_task("wide", claims=writes("src/**")))
    while not player.book.ready.reservations:
        player.end(player.running[0])
    player.add(a_task("text", kind="text", claims=writes("src/9")))
    assert player.state("text") == "ready"
    player.play(ev.HostPaused(player.at, "one"))
    assert "text" in player.running
