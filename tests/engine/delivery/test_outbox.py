"""The outbox in the core: what is posted, in which order, and that a journal brings it back."""

import pytest

from helpers import Player, a_host, a_task
from manyhands.core import events as ev
from manyhands.core import snapshot
from manyhands.core.outbox import is_allowed
from manyhands.core.scheduler import Scheduler
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.host import Route

ROUTE = Route("search", ("file-1", "hook"), ("https://a.example/",), ("done", "failed"), "parent")


def routed(*routes: Route) -> Player:
    player = Player()
    player.play(ev.HostsConfigured(player.at, (a_host("local", 4),), routes=routes))
    return player


def waiting(player: Player) -> list[tuple[int, str, str, str]]:
    return [(n, one.task, one.sink, one.order) for n, one in player.book.outbox.waiting.items()]


def test_a_result_is_posted_to_every_sink_of_its_app_and_to_an_allowed_reply_to() -> None:
    player = routed(ROUTE)
    player.open(
        a_task("a", app="search", parent="epic"),
        a_task("b", app="search", reply_to="https://a.example/x"),
        a_task("c", app="search", reply_to="https://b.example/x"),
        a_task("d", app="other"),
    )
    player.end("a", "b", "c", "d")
    assert waiting(player) == [
        (1, "a", "file-1", "r/epic"),
        (2, "a", "hook", "r/epic"),
        (3, "b", "file-1", "r/b"),
        (4, "b", "hook", "r/b"),
        (5, "b", "reply_to", "r/b"),
        (6, "c", "file-1", "r/c"),
        (7, "c", "hook", "r/c"),
    ]


def test_only_the_last_word_on_a_task_is_posted() -> None:
    player = routed(ROUTE)
    player.open(a_task("a", app="search", attempts=2))
    player.end("a", ending=Ending(EndingKind.FAILED, "first"))
    assert waiting(player) == []
    player.wait(60.0)
    player.end("a", ending=Ending(EndingKind.FAILED, "second"))
    assert [one.attempt for one in player.book.outbox.waiting.values()] == [2, 2]


def test_what_is_delivered_leaves_what_is_given_up_stays_and_a_replay_knows_it() -> None:
    player = routed(ROUTE)
    player.open(a_task("a", app="search"), a_task("b", app="search"))
    player.end("a", "b")
    player.play(ev.Delivered(player.at, 1), ev.DeliveryGivenUp(player.at, 2, "HTTP 400", 3), ev.Delivered(player.at, 1))
    assert [n for n, *_ in waiting(player)] == [3, 4]
    assert player.book.outbox.dead[2].error == "HTTP 400"
    replayed, restored = Scheduler(), Scheduler()
    replayed.replay(player.journal)
    assert snapshot.load(restored, snapshot.save(player.scheduler))
    assert replayed.book.outbox == restored.book.outbox == player.book.outbox
    player.play(ev.ResendAsked(player.at, app="search"))
    assert sorted(n for n, *_ in waiting(player)) == [2, 3, 4]
    assert player.book.outbox.dead == {}


@pytest.mark.parametrize("path", ["../admin", "a/../../admin", "%2e%2e/admin", "%2E%2e/admin", ".%2E/admin"])
def test_a_reply_to_cannot_climb_out_of_the_path_that_is_allowed(path: str) -> None:
    route = Route("search", reply_to=("https://hooks.example.org/search/",))
    assert is_allowed(route, "https://hooks.example.org/search/a")
    assert not is_allowed(route, f"https://hooks.example.org/search/{path}")
    assert not is_allowed(route, "https://hooks.example.org/other")
