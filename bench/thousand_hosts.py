"""Where does a single leader saturate? `examples/thousand-hosts.toml`: 1,000 hosts, 100,000 attempts in flight.

Measured: what a task costs the leader, deciding alone and with a journal. Simulated: how full the hosts are when they
offer more and more endings a second to a leader of that speed. `--tasks 10000000` is the whole question (some minutes).
"""

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

import msgspec
from record import record

from manyhands.core.events import AnyEvent
from manyhands.engine.sim.load_trial import LoadResult, run_load
from manyhands.engine.sim.scenario import Scenario, read_scenario, with_tasks
from manyhands.engine.sim.simulation import Leader
from manyhands.engine.store.sqlite.sqlite_store import open_journal

QUESTION = "thousand_hosts"
EXAMPLE = Path(__file__).parents[1] / "examples" / "thousand-hosts.toml"
JOURNALLED = 300_000
#: Events that a leader under full load finds and makes between two writes.
EVENTS_AT_ONCE = 2_000
#: Endings a second that full hosts offer; the sweep is made with a tenth of the hosts and tasks a tenth as long.
OFFERED_PER_S = (333, 3_333, 10_000, 15_000, 20_000, 30_000, 50_000)
PART = 10
SWEPT = 60_000
#: What a write takes besides what it writes, on a local disk.
TURN_S = 0.005


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tasks", type=int, default=1_000_000)
    tasks = parser.parse_args().tasks
    scenario = read_scenario(EXAMPLE)
    journalled = with_journal(with_tasks(scenario, JOURNALLED))
    tell("deciding and writing", journalled, "journal")
    for rate in OFFERED_PER_S:
        found = run_load(offering(scenario, rate, Leader(TURN_S, journalled.leader_task_s)))
        assert found.done == found.tasks
        assert found.utilisation is not None
        print(f"{rate:>8,} endings a second offered: {found.utilisation:6.1%} of the slots full")
        params = {"what": "offered", "per_s": rate, "leader_us": round(1e6 * journalled.leader_task_s, 1)}
        record(QUESTION, params, found.utilisation, "of the slots full, simulated")
    found = run_load(with_tasks(scenario, tasks), put_away=lambda done: print(f"  {done:,} done", file=sys.stderr))
    assert found.done == found.tasks
    tell("deciding", found, "load")
    params = shape(found) | {"what": "load"}
    record(QUESTION, params, found.cpu_s, "CPU seconds to simulate")
    record(QUESTION, params, found.tasks_per_cpu_s, "tasks per CPU second, simulation and all")
    record(QUESTION, params, found.memory_bytes, "bytes at most")
    record(QUESTION, params, found.utilisation or 0.0, "of the slots full while tasks waited, simulated")
    for part, seconds in found.cpu_s_of.items():
        record(QUESTION, params | {"part": part}, 1e6 * seconds / found.done, "us/task")


def shape(found: LoadResult) -> dict[str, Any]:
    return {"hosts": found.hosts, "in_flight": found.peak, "tasks": found.done}


def tell(what: str, found: LoadResult, name: str) -> None:
    costs = ", ".join(f"{part} {1e6 * seconds / found.done:.1f}" for part, seconds in found.cpu_s_of.items())
    print(
        f"{what}: {found.done:,} tasks, at most {found.peak:,} in flight: {found.tasks_per_s_max:,.0f} tasks a second"
    )
    print(f"  µs a task: {costs}; {found.memory_bytes / 1e9:.2f} GB; {found.cpu_s:.0f} CPU s")
    record(QUESTION, shape(found) | {"what": name}, found.tasks_per_s_max, "tasks per CPU second of the leader")


def with_journal(scenario: Scenario) -> LoadResult:
    """Every event goes to a journal of SQLite, as it would live."""
    with tempfile.TemporaryDirectory() as directory:
        journal = open_journal(Path(directory) / "store", "crash")
        waiting: list[AnyEvent] = []

        def written(event: AnyEvent) -> None:
            waiting.append(event)
            if len(waiting) >= EVENTS_AT_ONCE:
                journal.append(waiting)
                waiting.clear()

        try:
            return run_load(scenario, written)
        finally:
            journal.close()


def offering(scenario: Scenario, rate: float, leader: Leader) -> Scenario:
    """So many endings a second when all slots are full, on a part of the hosts."""
    node = scenario.hosts["node"]
    mix = node.parameters["mix"]
    slots = node.count // PART * int(node.width)  # type: ignore[call-overload]
    mean_s = sum(share["share"] * share["seconds"] for share in mix)
    shares = [share | {"seconds": share["seconds"] * slots / rate / mean_s} for share in mix]
    fewer = msgspec.structs.replace(node, count=node.count // PART, parameters={"mix": shares})
    changed = msgspec.structs.replace(scenario, hosts={"node": fewer}, leader=leader)
    block = scenario.backlog[0].block // PART
    backlog = msgspec.structs.replace(scenario.backlog[0], tasks=SWEPT, block=block)
    return msgspec.structs.replace(changed, backlog=(backlog,))


if __name__ == "__main__":
    main()
