"""Why a host is idle: only tasks that it takes count, by their kind and by what they bring."""

from helpers import Player, a_host, a_task
from manyhands.surfaces.api.picture.picture import Picture


def test_tasks_that_a_host_cannot_run_do_not_explain_why_it_is_idle() -> None:
    """Both hosts take every kind, but the waiting task is a prompt, and one of them runs commands only."""
    player = Player(a_host("commands", 1, takes=("run",)), a_host("models", 1, takes=("prompt",)))
    picture = Picture(player.book)
    player.open(a_task("later", run=(), prompt="say hello", deferred=True))
    picture.changes(player.journal)
    [told] = [row for row in picture.standing() if row["t"] == "idle"]
    assert {row["host"]: row["cause"] for row in told["idle"]} == {"commands": "no work", "models": "deferred"}
    assert Picture(player.book).standing()[0]["idle"] == told["idle"]
