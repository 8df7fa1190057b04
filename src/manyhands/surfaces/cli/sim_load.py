"""`manyhands sim` of a backlog that streams: how full the hosts were, and how much one leader can dispatch."""

import msgspec

from manyhands.engine.sim.load_trial import LEADER, LoadResult, run_load
from manyhands.engine.sim.scenario import Scenario
from manyhands.quantities import quantity
from manyhands.surfaces.cli.printing import OutputFormat, duration, print_json, print_table, put_lines, say

#: Mean lengths of a task, for each of which the table says how busy the leader would be.
TASK_S = (3600.0, 300.0, 60.0, 30.0, 10.0, 5.0, 2.0)


def simulate_load(scenario: Scenario, output: OutputFormat) -> int:
    (backlog,) = scenario.backlog
    tenths = 0

    def told(done: int) -> None:
        nonlocal tenths
        if 10 * done // backlog.tasks > tenths:
            tenths = 10 * done // backlog.tasks
            say(f"  {done:,} of {backlog.tasks:,} done")

    say(f"simulating {quantity(backlog.tasks, 'task')} in blocks of {backlog.block:,}")
    found = run_load(scenario, put_away=told)
    if output is OutputFormat.JSON:
        print_json(as_json(found))
    elif output is OutputFormat.IDS:
        put_lines(scenario.hosts)
    else:
        _print_costs(found)
        _print_summary(found)
    return 0 if found.done == found.tasks else 1


def as_json(found: LoadResult) -> dict[str, object]:
    leader = {
        "task_s": found.leader_task_s,
        "tasks_per_s_max": found.tasks_per_s_max,
        "offered_per_s": found.offered_per_s,
        "busy": found.offered_per_s * found.leader_task_s,
        "saturating_task_s": found.saturating_task_s,
    }
    return msgspec.structs.asdict(found) | {"tasks_per_cpu_s": found.tasks_per_cpu_s, "leader": leader}


def _print_costs(found: LoadResult) -> None:
    print_table(
        [
            {
                "cpu_time": part,
                "of": "the leader" if part in LEADER else "the simulation",
                "seconds": round(seconds, 1),
                "us_a_task": round(1e6 * seconds / found.done, 1) if found.done else None,
                "share": f"{seconds / found.cpu_s:.0%}",
            }
            for part, seconds in found.cpu_s_of.items()
            if seconds
        ]
    )
    put_lines([""])
    print_table(
        [
            {
                "tasks_of": duration(task_s),
                "endings_a_second": round(found.slots / task_s),
                "leader_busy": f"{found.slots / task_s * found.leader_task_s:.0%}",
            }
            for task_s in TASK_S
        ]
    )


def _print_summary(found: LoadResult) -> None:
    full = "there was room for all tasks at once"
    if found.utilisation is not None:
        full = f"{found.utilisation:.1%} of the slots were full while tasks waited"
    memory = f"{found.memory_bytes / 1e9:.2f} GB"
    put_lines(
        [
            "",
            f"{found.done:,} of {found.tasks:,} done on {quantity(found.hosts, 'host')}"
            f" in {duration(found.makespan_s)}, {found.of_ideal:.3f} of the ideal pace",
            f"at most {found.peak:,} were in flight in {quantity(found.slots, 'slot')}; {full}",
            f"simulated in {duration(found.took_s)} and {found.turns:,} turns:"
            f" {found.tasks_per_cpu_s:,.0f} tasks per CPU second, at most {memory}",
            f"one leader can dispatch {found.tasks_per_s_max:,.0f} tasks a second; this backlog, with tasks of"
            f" {found.mean_task_s:.0f} s, needs {found.offered_per_s:,.0f}",
            f"the leader is saturated if tasks are shorter than {found.saturating_task_s:.1f} s",
        ]
    )
