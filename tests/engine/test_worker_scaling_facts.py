"""What the policy for model workers is told of a host, and how its moves are kept."""

from helpers import Player, a_host, a_task
from manyhands.apps.serve.event_log import EventLines
from manyhands.core import events as ev
from manyhands.core import snapshot
from manyhands.core.scheduler import Scheduler
from manyhands.core.values.host import Rule
from manyhands.core.values.task import Task
from manyhands.engine.redaction import Secrets
from manyhands.engine.worker_scaling import waiting_for

MOVE = ev.WorkersMoved(9.0, "far", 3, 1, "900 items")


def a_prompt(id: str, kind: str = "text") -> Task:
    return a_task(id, run=(), prompt="hello", kind=kind)


def test_what_waits_for_a_host_are_the_prompts_that_it_may_take_now() -> None:
    player = Player(
        a_host("far", 2, kinds=("text", "late")),
        a_host("near", kinds=("code",)),
        rules=(Rule(kind="late", after="text"),),
    )
    far = player.book.hosts["far"]
    assert waiting_for(player.book, far) == (0, None)
    player.at = 5.0
    player.open(*(a_prompt(f"t{n}") for n in range(5)), a_task("run", kind="text"), a_prompt("held", "late"))
    waiting, since = waiting_for(player.book, far)
    assert (waiting, since) == (3, 5.0)  # two are in flight; a command is not a prompt, and a rule puts `late` off
    player.play(ev.HostPaused(6.0, "far"))
    assert waiting_for(player.book, far) == (0, 5.0)  # a person wants no more to start there; what runs continues
    player.play(ev.HostResumed(7.0, "far"), ev.RunDrained(7.0, "r"))
    assert waiting_for(player.book, far) == (0, 5.0)


def test_how_many_workers_there_should_be_outlives_the_dispatcher_and_is_told() -> None:
    player = Player(a_host("far"))
    player.play(MOVE)
    restored, replayed = Scheduler(), Scheduler()
    assert snapshot.load(restored, snapshot.save(player.scheduler))
    replayed.replay(player.journal)
    for scheduler in (restored, replayed):
        scheduler.handle([ev.HostsConfigured(10.0, (a_host("far", 4),))])
        assert (scheduler.book.hosts["far"].workers, scheduler.book.hosts["far"].workers_why) == (3, "900 items")
    [line] = EventLines(player.book, Secrets({})).lines([MOVE])
    assert line.endswith('action=workers host=far was=1 workers=3 why="900 items"')
