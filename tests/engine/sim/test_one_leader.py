"""A backlog that streams in under one leader: what is held stays small, hosts stay full, and a slow leader shows."""

import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from manyhands.core import events as ev
from manyhands.core.scheduler import Scheduler
from manyhands.engine.sim.load_trial import run_load
from manyhands.engine.sim.scenario import Scenario, read_scenario
from manyhands.engine.sim.simulation import Leader
from manyhands.engine.sim.spent import Spent
from manyhands.errors import UsageError
from surfaces.cli.console import Console

EXAMPLE = Path(__file__).parents[3] / "examples" / "thousand-hosts.toml"
MIX = ({"kind": "short", "share": 0.7, "seconds": 1.0}, {"kind": "long", "share": 0.3, "seconds": 4.0})


def scenario(tasks: int = 3000, block: int = 200, leader: Leader | None = None, **host: Any) -> Scenario:
    """140 slots on more hosts than anyone would choose among."""
    node = {"model": "timed", "count": 70, "width": 2, "parameters": {"mix": MIX}} | host
    backlog = {"tasks": tasks, "like": "node", "block": block}
    table = {"seed": 3, "hosts": {"node": node}, "backlog": [backlog]}
    made = msgspec.convert(table, Scenario)
    return made if leader is None else msgspec.structs.replace(made, leader=leader)


def test_a_slice_of_the_thousand_hosts_has_a_hundred_thousand_in_flight(tmp_path: Path) -> None:
    done = Console(tmp_path).run("sim", str(EXAMPLE), "--tasks", "100000", "--output", "json")
    assert done.code == 0, done.err
    found = done.json
    assert found["done"] == found["tasks"] == 100_000
    assert (found["hosts"], found["slots"]) == (1000, 100_000)
    assert found["peak"] >= 99_000
    assert found["of_ideal"] > 0.98
    assert found["memory_bytes"] < 1e9
    assert {"arrivals", "endings", "starts", "turns"} <= found["cpu_s_of"].keys()
    leader = found["leader"]
    assert leader["saturating_task_s"] == pytest.approx(100_000 / leader["tasks_per_s_max"])
    assert 0.0 < leader["busy"] < 1.0


def test_hosts_stay_full_and_what_is_held_is_what_is_under_way() -> None:
    held = most = 0
    sizes: dict[str, int] = {}

    def watch(event: ev.AnyEvent) -> None:
        nonlocal held, most
        if isinstance(event, ev.TasksSubmitted):
            sizes[event.run] = len(event.tasks)
            held += sizes[event.run]
        elif isinstance(event, ev.RunPutAway):
            held -= sizes[event.run]
        most = max(most, held)

    found = run_load(scenario(tasks=5050), watch)
    assert found.done == found.tasks == sum(sizes.values()) == 5050
    assert len(sizes) == 26
    assert found.peak == found.slots == 140
    assert found.utilisation is not None
    assert found.utilisation > 0.999
    assert found.of_ideal > 0.8
    assert most < 5050 / 3


def test_hosts_that_differ_by_chance_alone_are_not_waited_for_while_many_wait() -> None:
    found = run_load(scenario(tasks=2000, count=10, width=10))
    assert found.done == 2000
    assert found.utilisation is not None
    assert found.utilisation > 0.99


def test_the_same_seed_is_the_same_story_and_its_journal_leads_to_the_same_book() -> None:
    stories: list[list[ev.AnyEvent]] = [[], []]
    for story in stories:
        run_load(scenario(tasks=1500, leader=Leader(0.01, 0.0001)), story.append)
    assert stories[0] == stories[1]
    replayed = Scheduler()
    replayed.replay(stories[0])
    opened = {event.run for event in stories[0] if isinstance(event, ev.RunOpened)}
    put_away = {event.run for event in stories[0] if isinstance(event, ev.RunPutAway)}
    assert put_away
    assert {*replayed.book.runs} == opened - put_away
    assert all(run.unfinished == 0 for run in replayed.book.runs.values())


def test_a_leader_that_is_too_slow_leaves_slots_empty() -> None:
    """140 slots of 1.9 s on the average offer 74 tasks a second."""
    quick = run_load(scenario(leader=Leader(0.01, 1 / 500)))
    slow = run_load(scenario(leader=Leader(0.01, 1 / 35)))
    assert quick.done == slow.done == 3000
    assert quick.offered_per_s == pytest.approx(74, rel=0.1)
    assert quick.utilisation is not None
    assert slow.utilisation is not None
    assert quick.utilisation > 0.9
    assert 0.35 < slow.utilisation < 0.55
    assert slow.makespan_s > 3000 / 35


def test_what_is_lost_with_its_host_is_done_all_the_same() -> None:
    lost = 0

    def watch(event: ev.AnyEvent) -> None:
        nonlocal lost
        lost += isinstance(event, ev.AttemptEnded) and event.ending.kind == "lost"

    found = run_load(scenario(tasks=1000, outages=((3.0, 8.0),)), watch)
    assert found.done == 1000
    assert lost > 100


@pytest.mark.parametrize(
    ("line", "with_", "said"),
    [
        ("block = 10", "block = 10\nat = 5.0", "begin at once"),
        ("block = 10", 'block = 10\n[[backlog]]\ntasks = 5\nlike = "node"', "must be the only one"),
        ("block = 10", "block = -1", "`block` must be at least 1"),
        ("count = 3", "count = 0", "`count` must be at least 1"),
        ("seconds = 2", "seconds = 0", "`seconds` must be above 0"),
        ("seed = 1", "seed = 1\nconcurrency = 4", "`concurrency` limits one run"),
        ("seed = 1", "seed = 1\nleader = { turn_s = -1 }", "`turn_s` and `task_s` must be 0 or more"),
        ("seed = 1", 'seed = 1\nhosts.node-2 = { model = "timed" }', "there are two hosts `node-2`"),
        ("width = 2", "", "needs the number of its slots"),
    ],
)
def test_a_scenario_that_cannot_stream_is_refused(tmp_path: Path, line: str, with_: str, said: str) -> None:
    good = (
        'seed = 1\n[hosts.node]\nmodel = "timed"\ncount = 3\nwidth = 2\n'
        'parameters = { mix = [{ kind = "a", share = 1.0, seconds = 2 }] }\n'
        '[[backlog]]\ntasks = 30\nlike = "node"\nblock = 10\n'
    )
    file = tmp_path / "scenario.toml"
    file.write_text(good)
    assert run_load(read_scenario(file)).done == 30
    file.write_text(good.replace(line, with_))
    with pytest.raises(UsageError, match=said):
        run_load(read_scenario(file))


def test_time_is_told_by_what_was_being_done() -> None:
    spent = Spent({(__name__, "burn"): "burning"}, rest="rest")
    with spent.watched():
        burn(0.3)
    parts = spent.by_part()
    assert sum(parts.values()) == pytest.approx(spent.seconds)
    assert parts["burning"] > 0.8 * spent.seconds


def burn(seconds: float) -> None:
    until = time.process_time() + seconds
    while time.process_time() < until:
        sum(range(1000))
