"""Bounds on how many run at once: never more, and never fewer while there is work."""

from helpers import Player, a_host, a_task
from manyhands.core import events as ev
from manyhands.core.clutch.fixed import Fixed
from manyhands.core.scheduler import Scheduler
from manyhands.core.values.ending import DONE
from manyhands.core.values.host import Host, Width
from manyhands.core.values.widths import Sample
from manyhands.engine.sim.hosts.simulated_host import Job
from manyhands.engine.sim.hosts.timed_host import TimedHost
from manyhands.engine.sim.simulation import Simulation


def many(count: int, **fields: object) -> list:
    return [a_task(f"t{n}", **fields) for n in range(count)]


def test_a_host_runs_exactly_as_many_as_its_width() -> None:
    player = Player(a_host(width=3))
    player.open(*many(10))
    assert len(player.running) == 3
    player.end("t0")
    assert len(player.running) == 3
    player.run_to_end()
    assert player.book.hosts["local"].peak == 3


def test_a_lane_runs_exactly_as_many_as_its_width_and_leaves_the_rest_to_others() -> None:
    player = Player(a_host(width=4, lanes={"code": 2}))
    player.open(*many(6), a_task("text-1", kind="text"), a_task("text-2", kind="text"), a_task("text-3", kind="text"))
    assert player.running == ["t0", "t1", "text-1", "text-2"]
    player.run_to_end()
    lanes = player.book.hosts["local"].lanes
    assert lanes["code"].peak == 2
    assert lanes["text"].peak == 2


def test_fifteen_tasks_with_a_concurrency_of_ten_peak_at_exactly_ten() -> None:
    player = Player(a_host("one", width=8), a_host("two", width=8))
    player.open(*many(15), concurrency=10)
    assert len(player.running) == 10
    player.run_to_end()
    assert player.book.runs["r"].peak == 10
    assert player.states(f"t{n}" for n in range(15)) == ["done"] * 15


def test_each_run_has_its_own_concurrency() -> None:
    player = Player(a_host(width=10))
    player.open(*many(5), run="r", concurrency=2)
    player.open(*many(5), run="s", concurrency=3)
    assert len(player.running) == 5
    player.run_to_end()
    assert [player.book.runs[run].peak for run in "rs"] == [2, 3]


def test_the_children_of_a_bounded_parent_run_as_many_at_once_as_its_bound() -> None:
    player = Player(a_host(width=10))
    peak = 0
    player.open(*many(6, parent="epic"), a_task("other", parent="free"), parents={"epic": 2})
    assert sorted(player.running) == ["other", "t0", "t1"]
    while player.book.running:
        children = [id for id in player.running if id != "other"]
        peak = max(peak, len(children))
        player.end(children[0] if children else "other")
    assert peak == 2
    assert player.book.runs["r"].children_in_flight == {"epic": 0}


def test_a_smaller_width_set_by_a_person_starts_nothing_until_it_is_kept_to() -> None:
    player = Player(a_host(width=4))
    player.open(*many(12))
    player.play(ev.WidthSet(player.at, "local", 2))
    assert len(player.running) == 4
    player.end("t0")
    player.end("t1")
    assert player.running == ["t2", "t3"]
    player.end("t2")
    assert player.running == ["t3", "t4"]
    player.play(ev.WidthSet(player.at, "local", None))
    assert len(player.running) == 4
    moves = [event for event in player.journal if isinstance(event, ev.WidthMoved)]
    assert [(move.was, move.width, move.reason) for move in moves] == [
        (4, 2, "set by a person"),
        (2, 4, "pinned"),
    ]


def test_a_width_of_nothing_starts_nothing() -> None:
    player = Player(a_host(width=2))
    player.play(ev.WidthSet(player.at, "local", 0))
    player.open(*many(3))
    assert player.running == []
    player.play(ev.WidthSet(player.at, "local", 1))
    assert player.running == ["t0"]


def test_a_width_set_by_a_person_and_a_pause_outlive_a_new_start() -> None:
    player = Player(a_host(width=4), a_host("other", width=1))
    player.play(ev.WidthSet(player.at, "local", 2), ev.HostPaused(player.at, "other", "quota", until=50.0))
    player.open(*many(5))
    player.play(ev.HostsConfigured(player.at, (a_host(width=4), a_host("other", width=1))))
    assert player.book.hosts["local"].width == 2
    assert player.book.hosts["other"].paused == "quota"
    player.wait(50.0)
    assert sorted(player.running) == ["t0", "t1", "t2"]


def test_a_paused_host_takes_nothing_and_the_others_go_on() -> None:
    player = Player(a_host("one", width=2), a_host("two", width=2))
    player.play(ev.HostPaused(player.at, "one", "a person said so"))
    player.open(*many(4))
    assert len(player.running) == 2
    assert player.book.hosts["one"].peak == 0
    player.play(ev.HostResumed(player.at, "one"))
    assert len(player.running) == 4


def test_a_pause_with_an_end_ends_by_itself() -> None:
    player = Player(a_host(width=1))
    commands = player.play(ev.HostPaused(player.at, "local", "quota", until=30.0))
    assert [command.at for command in commands] == [30.0]
    player.open(*many(1))
    player.wait(29.0)
    assert player.running == []
    player.wait(1.0)
    assert player.running == ["t0"]


def test_attempts_share_a_hosts_resources_and_never_use_more_than_it_has() -> None:
    player = Player(a_host(width=10, resources={"gpu": 2.0}))
    player.open(*many(5, resources={"gpu": 1.0}), a_task("cpu"))
    assert player.running == ["t0", "t1", "cpu"]
    player.end("t0")
    assert player.running == ["t1", "cpu", "t2"]
    player.run_to_end()
    assert player.book.hosts["local"].used == {"gpu": 0.0}


def test_a_task_that_needs_much_of_a_host_is_not_passed_for_ever_by_those_that_need_little() -> None:
    player = Player(a_host(width=10, resources={"gpu": 2.0}))
    player.open(*many(40, resources={"gpu": 1.0}))
    player.add(a_task("big", resources={"gpu": 2.0}))
    for _ in range(30):
        if "big" in player.running:
            break
        player.end(player.running[0])
    assert player.running == ["big"]
    assert len(player.started) < 25
    player.run_to_end()
    assert player.book.runs["r"].counts["done"] == 41


def test_a_run_of_many_kinds_keeps_every_host_full_until_its_last_tasks() -> None:
    """The demo's arithmetic: 10 tasks each of 30, 20 and 40 s on widths 2, 3, 2 take 200 s and not a second more."""
    widths = {"code": (2, 30.0), "text": (3, 20.0), "reasoning": (2, 40.0)}
    hosts = tuple(Host(kind, (kind,), width=Width(w, w, w)) for kind, (w, _) in widths.items())
    tasks = tuple(a_task(f"{kind}-{n}", kind=kind) for n in range(10) for kind in widths)
    scheduler = Scheduler()
    simulation = Simulation(
        scheduler, {kind: TimedHost() for kind in widths}, lambda order: Job("", 1.0, seconds=widths[order.host][1])
    )
    simulation.expect(ev.HostsConfigured(0.0, hosts))
    simulation.expect(ev.RunOpened(0.0, "r"))
    simulation.expect(ev.TasksSubmitted(0.0, "r", tasks))
    assert simulation.run() == 200.0
    assert {name: host.peak for name, host in scheduler.book.hosts.items()} == {"code": 2, "text": 3, "reasoning": 2}
    assert simulation.settled == ["r"]


def test_new_bounds_of_a_run_that_goes_on_hold_for_what_starts_from_then_on() -> None:
    player = Player(a_host(width=5))
    player.open(*many(12))
    player.play(ev.RunResumed(player.at, "r", concurrency=2))
    assert len(player.running) == 5
    player.end("t0", "t1", "t2", "t3")
    assert player.running == ["t4", "t5"]


def test_mean_in_flight_told_to_the_clutch_survives_a_new_config() -> None:
    samples: list[Sample] = []

    class Told(Fixed):
        def observe(self, sample: Sample) -> None:
            samples.append(sample)

    scheduler = Scheduler(lambda *_: Told(4))
    scheduler.handle([ev.HostsConfigured(0.0, (a_host(width=4),)), ev.RunOpened(0.0, "r")])
    scheduler.handle([ev.TasksSubmitted(0.0, "r", tuple(many(2)))])
    scheduler.handle([ev.AttemptEnded(4.0, 1, DONE)])
    scheduler.handle([ev.HostsConfigured(6.0, (a_host(width=4),))])
    scheduler.handle([ev.AttemptEnded(8.0, 2, DONE)])
    assert [sample.in_flight for sample in samples] == [2.0, 1.5]


def test_a_lane_moves_once_when_a_person_sets_the_width_of_its_host() -> None:
    player = Player(Host("local", width=Width(1, 4, 8)))
    player.open(*many(12))
    player.play(ev.WidthSet(player.at, "local", 2))
    moved = [event for event in player.journal if isinstance(event, ev.WidthMoved) and event.kind == "code"]
    assert [(move.was, move.width) for move in moved] == [(4, 2)]
    player.run_to_end()
    assert [event for event in player.journal if isinstance(event, ev.WidthMoved) and event.kind == "code"] == moved
