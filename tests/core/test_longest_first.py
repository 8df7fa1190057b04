"""Near the end of a backlog the kinds that are known to take longest start first."""

from helpers import Player, a_host, a_task


def known(width: int) -> Player:
    """A host that has seen both kinds: `long` takes ten seconds, `short` takes one."""
    player = Player(a_host(width=width))
    player.open(a_task("first", kind="short"), run="before")
    player.end("first")
    player.open(a_task("second", kind="long"), run="before-too")
    player.end("second", after_s=10.0)
    player.started.clear()
    return player


def test_the_longest_expected_start_first_at_the_end() -> None:
    player = known(width=2)
    player.open(
        *(a_task(f"s{n}", kind="short") for n in range(4)), a_task("l0", kind="long"), a_task("l1", kind="long")
    )
    assert player.started == ["l0", "l1"]


def test_while_there_is_enough_to_do_the_order_of_the_plan_holds() -> None:
    player = known(width=2)
    player.open(*(a_task(f"s{n}", kind="short") for n in range(60)), a_task("l0", kind="long"))
    assert player.started == ["s0", "s1"]
    while "l0" not in player.started:
        player.end(*player.running)
    assert 15 <= len(player.started) <= 45  # what is left then takes about twice as long as the long one


def test_urgency_and_chains_go_before_length() -> None:
    player = known(width=1)
    player.open(
        a_task("l0", kind="long"),
        a_task("urgent", kind="short", priority=1),
        a_task("root", kind="short"),
        a_task("leaf", kind="short", needs=("root",)),
    )
    assert player.run_to_end() == ["urgent", "root", "l0", "leaf"]


def test_one_at_a_time_no_order_is_faster_than_another() -> None:
    player = known(width=2)
    player.open(a_task("s0", kind="short"), a_task("l0", kind="long"), concurrency=1)
    assert player.run_to_end() == ["s0", "l0"]
