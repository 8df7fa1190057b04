"""What it costs that an unknown kind starts as wide as its host: attempts of a kind that really is hard."""

from random import Random

from helpers import Player, a_task
from manyhands.core.events import WidthMoved
from manyhands.core.values.ending import DONE, Ending, EndingKind
from manyhands.core.values.host import Host, Width


def attempts_of(host: Host, seed: int) -> tuple[int, int]:
    """(attempts, seconds) for 30 tasks of which an attempt succeeds in 30 % of cases, with many beside it in 5 %."""
    player = Player(host)
    random = Random(seed)
    luck = {f"t{n}": [random.random() for _ in range(3)] for n in range(30)}
    player.open(*(a_task(f"t{n}", kind="hard", attempts=3) for n in range(30)))
    while player.book.runs["r"].unfinished:
        chance = 0.3 if len(player.running) <= 2 else 0.05
        for id in player.running:
            record = player.book.runs["r"].records[id]
            is_done = luck[id][len(record.history or ()) - 1] < chance
            player.end(id, ending=DONE if is_done else Ending(EndingKind.FAILED, "wrong"), after_s=0.1)
        player.wait(2.0)
    return sum(len(record.history or ()) for record in player.book.runs["r"].records.values()), round(player.at)


def test_a_hard_kind_costs_no_more_attempts_for_starting_wide_and_ends_sooner() -> None:
    wide = [attempts_of(Host("local", width=Width(1, 8, 8)), seed) for seed in range(5)]
    narrow = [attempts_of(Host("local", width=Width(1, 8, 8), lanes={"hard": 1}), seed) for seed in range(5)]
    assert sum(each[0] for each in wide) <= 1.1 * sum(each[0] for each in narrow)
    assert sum(each[1] for each in wide) <= sum(each[1] for each in narrow)


def test_a_lane_that_follows_its_host_is_not_explained_by_how_its_kind_went() -> None:
    player = Player(Host("local", width=Width(1, 6, 8)))
    player.open(*(a_task(f"t{n}", kind="easy") for n in range(40)))
    for _ in range(4):
        player.end(player.running[0])
    refused = Ending(EndingKind.OVERLOADED, "busy")
    while not any(isinstance(event, WidthMoved) and 0 < event.width < event.was for event in player.journal):
        player.end(player.running[0], ending=refused)
    host, lane = [event for event in player.journal if isinstance(event, WidthMoved) and event.width < event.was]
    assert (host.kind, lane.kind, host.was, host.width) == ("", "easy", lane.was, lane.width)
    assert lane.reason.startswith(f"with its host, which went from {host.was} to {host.width}; ")
