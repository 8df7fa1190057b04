"""A scenario file: simulated hosts, a backlog and faults. What is left out is as on the reference hosts."""

import tomllib
from fnmatch import fnmatchcase
from pathlib import Path
from random import Random
from typing import Any

import msgspec
from msgspec import Struct

from manyhands.backlogs.plan import read_plan
from manyhands.core.model import NO_CLAIMS, Host, Rate, Rule, Task, Width
from manyhands.errors import UsageError
from manyhands.sim.hosts.interface import Job, SimulatedHost
from manyhands.sim.hosts.outage import OutageHost
from manyhands.sim.hosts.reference import API, BATCHING, PROCESSES, SLOTS, Parameters, build
from manyhands.sim.hosts.timed import TimedHost

#: model → the parameters a scenario's own are laid over; "timed" has none.
MODELS: dict[str, Parameters | None] = {
    "batching": BATCHING.parameters,
    "api": API.parameters,
    "processes": PROCESSES.parameters,
    "slots": SLOTS.parameters,
    "timed": None,
}


class ScenarioHost(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A host: its model's fields under `parameters`, the rest as in `manyhands.toml`."""

    model: str
    kinds: tuple[str, ...] = ("*",)
    width: int | Width = Width()
    rate: Rate | None = None
    lanes: dict[str, int] = {}
    fallback: bool = False
    parameters: dict[str, Any] = {}
    outages: tuple[tuple[float, float], ...] = ()  # (from, to): it dies and returns


class Backlog(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Tasks drawn from a host's mix, or those of a plan file (each taking what its kind takes on its host)."""

    tasks: int = 0
    like: str = ""  # the host whose mix they are drawn from
    plan: str = ""
    at: float = 0.0  # when they arrive


class Scenario(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    hosts: dict[str, ScenarioHost]
    backlog: tuple[Backlog, ...]
    seed: int = 1
    concurrency: int | None = None
    rules: tuple[Rule, ...] = ()


class Arrival(Struct, frozen=True):
    at: float
    tasks: tuple[Task, ...]


class Stage(Struct, frozen=True):
    """A scenario made ready to run: fresh hosts, and the same jobs for the same seed."""

    hosts: tuple[Host, ...]
    models: dict[str, SimulatedHost]
    arrivals: tuple[Arrival, ...]
    jobs: dict[str, Job]


def read_scenario(path: Path) -> Scenario:
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        scenario = msgspec.convert(table, Scenario)
    except OSError as error:
        raise UsageError(f"cannot read scenario `{path}`: {error.strerror}", "give the path of a .toml file") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"scenario `{path}`: {error}", "it is a TOML file; see examples/two-hosts.toml") from error
    except msgspec.ValidationError as error:
        raise UsageError(f"scenario `{path}`: {error}", "examples/two-hosts.toml shows what a scenario has") from error
    _check(path, scenario)
    return scenario


def _check(path: Path, scenario: Scenario) -> None:
    if scenario.concurrency is not None and scenario.concurrency < 1:
        raise UsageError(f"scenario `{path}`: `concurrency` must be at least 1, got {scenario.concurrency}")
    for name, host in scenario.hosts.items():
        _check_host(f"scenario `{path}`: host `{name}`", host)
    for backlog in scenario.backlog:
        if backlog.tasks < 0 or bool(backlog.plan) == bool(backlog.tasks):
            raise UsageError(
                f"scenario `{path}`: a backlog has either `tasks` or a `plan`", 'tasks = 500, like = "gpu"'
            )
        if backlog.tasks and backlog.like not in scenario.hosts:
            names = ", ".join(scenario.hosts)
            raise UsageError(f'scenario `{path}`: `like = "{backlog.like}"` names no host', f"the hosts are {names}")


def _check_host(where: str, host: ScenarioHost) -> None:
    if host.model not in MODELS:
        raise UsageError(f"{where} has no model `{host.model}`", f"models are {', '.join(MODELS)}")
    if isinstance(host.width, int) and host.width < 1:
        raise UsageError(f"{where}: `width` must be at least 1, got {host.width}", "leave it out for the clutch")
    base = MODELS[host.model]
    known = [field.name for field in msgspec.structs.fields(base)] if base is not None else []
    for name, value in host.parameters.items():
        if name not in known:
            raise UsageError(
                f"{where} has no parameter `{name}`", f"a {host.model} host has {', '.join(known) or 'none'}"
            )
        if isinstance(value, int | float) and not isinstance(value, bool) and value <= 0:
            raise UsageError(f"{where}: `{name}` must be above 0, got {value}")
    ends = [end for outage in host.outages for end in outage]
    if ends != sorted(set(ends)):
        raise UsageError(f"{where}: outages must be (from, to) in order and apart, got {host.outages}")


def set_stage(scenario: Scenario, directory: Path, pinned: dict[str, int] | None = None) -> Stage:
    """`pinned` gives hosts a fixed width instead of their own: to find the best one by sweeping."""
    models = {name: _model(host) for name, host in scenario.hosts.items()}
    random = Random(scenario.seed)
    arrivals: list[Arrival] = []
    jobs: dict[str, Job] = {}
    for backlog in scenario.backlog:
        if backlog.plan:
            tasks = read_plan([directory / backlog.plan]).tasks
            arrivals.append(Arrival(backlog.at, tuple(tasks)))
            continue
        drawn: list[Task] = []
        for _ in range(backlog.tasks):
            job = models[backlog.like].draw(random)
            id = f"t{len(jobs) + 1}"
            jobs[id] = job
            drawn.append(Task(id, kind=job.kind, prompt="simulated", claims=NO_CLAIMS))
        arrivals.append(Arrival(backlog.at, tuple(drawn)))
    hosts = tuple(_host(name, host, (pinned or {}).get(name)) for name, host in scenario.hosts.items())
    for kind in sorted({task.kind for arrival in arrivals for task in arrival.tasks}):
        if not any(fnmatchcase(kind, pattern) for host in hosts for pattern in host.kinds):
            raise UsageError(f"no host of the scenario takes kind `{kind}`", "add it to the `kinds` of one")
    return Stage(hosts, models, tuple(arrivals), jobs)


def _host(name: str, host: ScenarioHost, pinned: int | None) -> Host:
    if pinned is None and isinstance(host.width, int):
        pinned = host.width
    width = Width(pinned, pinned, pinned) if pinned is not None else host.width
    assert isinstance(width, Width)
    return Host(name, host.kinds, width=width, lanes=host.lanes, rate=host.rate, fallback=host.fallback)


def _model(host: ScenarioHost) -> SimulatedHost:
    base = MODELS[host.model]
    if base is None:
        model: SimulatedHost = TimedHost()
    else:
        try:
            parameters = msgspec.convert(msgspec.structs.asdict(base) | host.parameters, type(base))
        except msgspec.ValidationError as error:
            raise UsageError(f"parameters of a `{host.model}` host: {error}") from error
        model = build(parameters)
    return OutageHost(model, host.outages) if host.outages else model
