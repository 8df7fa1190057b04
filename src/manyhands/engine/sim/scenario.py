"""A scenario file: simulated hosts, a backlog and faults. Left-out values are those of the reference hosts."""

import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import msgspec
from msgspec import Struct

from manyhands.core.placement import takes
from manyhands.core.values.host import COMMANDS, SERVICE, Host, Rate, Rule, Width
from manyhands.core.values.task import NO_CLAIMS, Task
from manyhands.engine.sim.hosts.outage_host import OutageHost
from manyhands.engine.sim.hosts.reference import API, BATCHING, PROCESSES, SLOTS, Parameters, build
from manyhands.engine.sim.hosts.simulated_host import Job, SimulatedHost
from manyhands.engine.sim.hosts.timed_host import A_SECOND_EACH
from manyhands.engine.sim.simulation import INSTANT, Leader
from manyhands.errors import UsageError
from manyhands.readers.text import whole_file
from manyhands.sources.plans.plan_reading import read_plan

#: model → its default parameters, which a scenario may override.
MODELS: dict[str, Parameters] = {
    "batching": BATCHING.parameters,
    "api": API.parameters,
    "processes": PROCESSES.parameters,
    "slots": SLOTS.parameters,
    "timed": A_SECOND_EACH,
}
#: More would not fit into the memory of a usual machine.
HOSTS_MAX = 100_000
TASKS_MAX = 10_000_000


class ScenarioHost(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A host: its model's fields under `parameters`, the rest as in `manyhands.toml`."""

    model: str
    count: int = 1  # how many hosts like this; `node` with 3 is node-1, node-2 and node-3
    kinds: tuple[str, ...] = ("*",)
    width: int | Width = Width()
    rate: Rate | None = None
    lanes: dict[str, int] = {}
    fallback: bool = False
    parameters: dict[str, Any] = {}
    outages: tuple[tuple[float, float], ...] = ()  # (from, to): it dies and returns


class Backlog(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Tasks drawn from a host's mix, or the tasks of a plan file, which take as long as their kind does on the host."""

    tasks: int = 0
    like: str = ""  # the host whose mix they are drawn from
    plan: str = ""
    at: float = 0.0  # when they arrive
    block: int = 0  # tasks come in blocks of this many, each its own run, as soon as there is room; 0: all at once


class Scenario(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    hosts: dict[str, ScenarioHost]
    backlog: tuple[Backlog, ...]
    seed: int = 1
    concurrency: int | None = None
    rules: tuple[Rule, ...] = ()
    leader: Leader = INSTANT

    @property
    def streams(self) -> bool:
        """Does its backlog come in blocks?"""
        return any(backlog.block for backlog in self.backlog)


class Arrival(Struct, frozen=True):
    at: float
    tasks: tuple[Task, ...]


class ScenarioStage(Struct, frozen=True):
    """A scenario that is ready to run: fresh hosts, and the same jobs for the same seed."""

    hosts: tuple[Host, ...]
    models: dict[str, SimulatedHost]
    arrivals: tuple[Arrival, ...]
    jobs: dict[str, Job]


def read_scenario(path: Path) -> Scenario:
    try:
        table = tomllib.loads(whole_file(path).decode())
        scenario = msgspec.convert(table, Scenario)
    except OSError as error:
        raise UsageError(f"cannot read scenario `{path}`: {error.strerror}", "give the path of a .toml file") from error
    except msgspec.ValidationError as error:
        raise UsageError(f"scenario `{path}`: {error}", "examples/two-hosts.toml shows what a scenario has") from error
    except RecursionError as error:
        raise UsageError(f"scenario `{path}` is nested too deeply", "see examples/two-hosts.toml") from error
    except ValueError as error:  # not TOML, not UTF-8, or a number of thousands of digits
        raise UsageError(f"scenario `{path}`: {error}", "it is a TOML file; see examples/two-hosts.toml") from error
    _check(path, scenario)
    return scenario


def _check(path: Path, scenario: Scenario) -> None:
    if scenario.concurrency is not None and scenario.concurrency < 1:
        raise UsageError(f"scenario `{path}`: `concurrency` must be at least 1, got {scenario.concurrency}")
    if scenario.leader.turn_s < 0 or scenario.leader.task_s < 0:
        raise UsageError(f"scenario `{path}`: a leader's `turn_s` and `task_s` must be 0 or more")
    if scenario.streams:
        _check_stream(f"scenario `{path}`", scenario)
    for name, host in scenario.hosts.items():
        _check_host(f"scenario `{path}`: host `{name}`", host)
    if (hosts := sum(host.count for host in scenario.hosts.values())) > HOSTS_MAX:
        raise UsageError(f"scenario `{path}`: it has at most {HOSTS_MAX:,} hosts, got {hosts:,}", "lower a `count`")
    times = Counter(name for name, _ in _each(scenario))
    if twice := [name for name, n in times.items() if n > 1]:
        raise UsageError(
            f"scenario `{path}`: there are two hosts `{twice[0]}`", "give the one with a `count` another name"
        )
    for backlog in scenario.backlog:
        if backlog.block < 0:
            raise UsageError(f"scenario `{path}`: `block` must be at least 1, got {backlog.block}")
        if (at_once := backlog.block or backlog.tasks) > TASKS_MAX:
            raise UsageError(
                f"scenario `{path}`: at most {TASKS_MAX:,} tasks come at once, got {at_once:,}",
                "with a `block`, tasks come as others end",
            )
        if backlog.tasks < 0 or bool(backlog.plan) == bool(backlog.tasks):
            raise UsageError(
                f"scenario `{path}`: a backlog has either `tasks` or a `plan`", 'tasks = 500, like = "gpu"'
            )
        if backlog.tasks and backlog.like not in scenario.hosts:
            names = ", ".join(scenario.hosts)
            raise UsageError(
                f'scenario `{path}`: `like = "{backlog.like}"` does not name a host', f"the hosts are {names}"
            )


def _check_stream(where: str, scenario: Scenario) -> None:
    if len(scenario.backlog) > 1 or scenario.backlog[0].plan or scenario.backlog[0].at:
        raise UsageError(
            f"{where}: a backlog with a `block` must be the only one, have `tasks`, and begin at once",
            'tasks = 1_000_000, like = "node", block = 100_000',
        )
    if scenario.concurrency is not None:
        raise UsageError(
            f"{where}: `concurrency` limits one run, and with a `block` there are many runs", "give hosts a `width`"
        )


def _check_host(where: str, host: ScenarioHost) -> None:
    if host.model not in MODELS:
        raise UsageError(f"{where} has no model `{host.model}`", f"models are {', '.join(MODELS)}")
    if isinstance(host.width, int) and host.width < 1:
        raise UsageError(f"{where}: `width` must be at least 1, got {host.width}", "leave it out for the clutch")
    if host.count < 1:
        raise UsageError(f"{where}: `count` must be at least 1, got {host.count}")
    known = [field.name for field in msgspec.structs.fields(MODELS[host.model])]
    for name, value in host.parameters.items():
        if name not in known:
            raise UsageError(f"{where} has no parameter `{name}`", f"a {host.model} host has {', '.join(known)}")
        for inner, number in _numbers(name, value):
            if number <= 0:
                raise UsageError(f"{where}: `{inner}` must be above 0, got {number}")
    ends = [end for outage in host.outages for end in outage]
    if ends != sorted(set(ends)):
        raise UsageError(f"{where}: outages must be (from, to) in order and apart, got {host.outages}")


def _numbers(name: str, value: object) -> Iterator[tuple[str, float]]:
    """The numbers of a parameter, and of each kind of a mix."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield name, value
    elif name == "mix" and isinstance(value, list):
        for share in value:
            for inner, number in share.items() if isinstance(share, dict) else ():
                yield from _numbers(inner, number)


def with_tasks(scenario: Scenario, tasks: int) -> Scenario:
    """The same scenario with this many tasks: a slice of a long one, or more of a short one."""
    drawn = [backlog for backlog in scenario.backlog if backlog.tasks]
    if len(drawn) != 1:
        raise UsageError(
            f"`--tasks {tasks}` is for a scenario with one drawn backlog, but this one has {len(drawn)}",
            "change the numbers in the file",
        )
    changed = msgspec.structs.replace(drawn[0], tasks=tasks)
    backlog = tuple(changed if each is drawn[0] else each for each in scenario.backlog)
    return msgspec.structs.replace(scenario, backlog=backlog)


def set_stage(scenario: Scenario, directory: Path, pinned: dict[str, int] | None = None) -> ScenarioStage:
    """`pinned` gives hosts a fixed width instead of their own, so that a sweep can find the best one."""
    models = {name: _model(host) for name, host in _each(scenario)}
    random = Random(scenario.seed)
    arrivals: list[Arrival] = []
    jobs: dict[str, Job] = {}
    for backlog in scenario.backlog:
        if backlog.plan:
            tasks = read_plan([directory / backlog.plan]).tasks
            arrivals.append(Arrival(backlog.at, tuple(tasks)))
        elif not backlog.block:
            drawn = [models[first_of(scenario, backlog.like)].draw(random) for _ in range(backlog.tasks)]
            named = {f"t{number}": job for number, job in enumerate(drawn, start=len(jobs) + 1)}
            jobs |= named
            arrivals.append(Arrival(backlog.at, tuple(a_task(id, job) for id, job in named.items())))
    hosts = tuple(
        msgspec.structs.replace(_host(name, host, (pinned or {}).get(name)), streams=models[name].shows_output)
        for name, host in _each(scenario)
    )
    check_kinds({task.kind for arrival in arrivals for task in arrival.tasks}, hosts)
    return ScenarioStage(hosts, models, tuple(arrivals), jobs)


def a_task(id: str, job: Job) -> Task:
    return Task(id, kind=job.kind, prompt="simulated", claims=NO_CLAIMS)


def check_kinds(kinds: set[str], hosts: tuple[Host, ...]) -> None:
    for kind in sorted(kinds):
        if not any(takes(host, kind, "prompt") for host in hosts):
            raise UsageError(f"no host of the scenario takes kind `{kind}`", "add it to the `kinds` of one")


def first_of(scenario: Scenario, name: str) -> str:
    """The host with that name, or the first of a group with that name."""
    return name if scenario.hosts[name].count == 1 else f"{name}-1"


def _each(scenario: Scenario) -> Iterator[tuple[str, ScenarioHost]]:
    for name, host in scenario.hosts.items():
        if host.count == 1:
            yield name, host
        else:
            yield from ((f"{name}-{number}", host) for number in range(1, host.count + 1))


def _host(name: str, host: ScenarioHost, pinned: int | None) -> Host:
    if pinned is None and isinstance(host.width, int):
        pinned = host.width
    width = Width(pinned, pinned, pinned) if pinned is not None else host.width
    assert isinstance(width, Width)
    nature = COMMANDS if host.model == "processes" else SERVICE
    return Host(name, host.kinds, width=width, lanes=host.lanes, rate=host.rate, fallback=host.fallback, nature=nature)


def _model(host: ScenarioHost) -> SimulatedHost:
    base = MODELS[host.model]
    try:
        parameters = msgspec.convert(msgspec.structs.asdict(base) | host.parameters, type(base))
    except msgspec.ValidationError as error:
        raise UsageError(f"parameters of a `{host.model}` host: {error}") from error
    model = build(parameters)
    return OutageHost(model, host.outages) if host.outages else model
