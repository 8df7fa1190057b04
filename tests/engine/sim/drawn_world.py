"""What a seed decides before a story begins: hosts, sinks, and tasks of every sort."""

from collections.abc import Callable
from random import Random

from engine.sim.fault_profiles import FaultProfile
from manyhands.core.commands import StartAttempt
from manyhands.core.values.host import Family, Host, Width
from manyhands.core.values.task import NO_CLAIMS, Claims, Task
from manyhands.engine.sim.dispatched.simulated_site import Bond
from manyhands.engine.sim.hosts.api_host import Api, ApiHost, CallShare
from manyhands.engine.sim.hosts.outage_host import OutageHost
from manyhands.engine.sim.hosts.process_host import Processes, ProcessHost, ProcessShare
from manyhands.engine.sim.hosts.simulated_host import Job, SimulatedHost
from manyhands.engine.sim.hosts.slot_host import SizeShare, SlotHost, Slots
from manyhands.engine.sim.hosts.storm_host import StormHost
from manyhands.engine.sim.hosts.timed_host import Timed, TimedHost, TimedShare
from manyhands.sources.config.route_config import FileSinkConfig, RouteConfig

PATHS = ("src/a", "src/b", "src/**", "docs/*.md", "docs/x.md", "db:main", "lib/", "**")
#: Kind → the hosts that take it, by name.
KINDS = {"fix": "shell", "build": "shell", "ask": "api", "item": "remote"}

PROCESSES = Processes((ProcessShare("fix", 0.7, 12, 1.1, 0.4), ProcessShare("build", 0.3, 30, 1.8, 0.45)), cores=2)
ASKED = Api((CallShare("ask", 1.0, 900),), 240, 330_000, 8, 20_000, latency_s=5.0, tells_budget=True)
REMOTE = Slots((SizeShare("item", 1.0, 6),), slots=3, queue_max=4, errors=0.1)
TIMED = Timed((TimedShare("fix", 0.5, 8.0), TimedShare("build", 0.5, 20.0)))

FAMILY = Family("schema", "shell", ("snapshot",), ("disrupt",), ("healthy",), ("revert",), bisect=True)
#: The place of each route's sink.
ROUTES = {
    "mail": RouteConfig(sinks=(FileSinkConfig(path="mail", name="mail"),), endings=("done", "failed"), tries=4),
    "log": RouteConfig(sinks=(FileSinkConfig(path="log", name="log"),), order="app", tries=1000),
}


def draw_hosts(random: Random, profile: FaultProfile) -> dict[str, tuple[Host, SimulatedHost, Bond]]:
    def width() -> Width:
        pinned = random.randint(1, 6)
        return Width(pinned, pinned, pinned) if random.random() < 0.5 else Width(1, None, 12)

    def outages() -> tuple[tuple[float, float], ...]:
        starts = sorted(random.uniform(5, profile.for_s + 10) for _ in range(random.randrange(profile.outages_max + 1)))
        drawn = tuple((at, at + random.uniform(1, 20)) for at in starts)
        return tuple(one for place, one in enumerate(drawn) if not place or one[0] > drawn[place - 1][1])

    shell = ProcessHost(PROCESSES) if random.random() < 0.5 else TimedHost(TIMED)
    hosts: dict[str, tuple[Host, SimulatedHost, Bond]] = {
        "shell": (Host("shell", ("fix", "build"), width=width()), shell, Bond.PROCESS),
        "api": (Host("api", ("ask",), width=width()), ApiHost(ASKED), Bond.CALL),
        "remote": (Host("remote", ("item",), width=width()), SlotHost(REMOTE), Bond.REMOTE),
    }
    if random.random() < 0.4:
        spare = Host("spare", ("*",), width=width(), fallback=random.random() < 0.5)
        hosts["spare"] = (spare, TimedHost(TIMED), random.choice((Bond.PROCESS, Bond.REMOTE)))
    for name in profile.flapping:
        if name in hosts:
            host, model, bond = hosts[name]
            hosts[name] = (host, OutageHost(model, outages()), bond)
    if profile.storms:
        for name in ("api", "remote"):
            host, model, bond = hosts[name]
            hosts[name] = (host, StormHost(model, draw_storms(random, profile.for_s)), bond)
    return hosts


def draw_storms(random: Random, for_s: float) -> tuple[tuple[float, float, bool], ...]:
    starts = [random.uniform(0, for_s) for _ in range(random.randint(1, 4))]
    return tuple((at, at + random.uniform(2, 40), random.random() < 0.4) for at in starts)


def job_source(seed: int, hosts: dict[str, tuple[Host, SimulatedHost, Bond]]) -> Callable[[StartAttempt], Job]:
    """The same attempt is the same work, in whatever order attempts start."""

    def job_for(order: StartAttempt) -> Job:
        return hosts[order.host][1].draw(Random(f"{seed} {order.run} {order.task.id} {order.number}"), order.task.kind)

    return job_for


def draw_task(random: Random, number: int) -> Task:
    kind = random.choice((*KINDS, "fix", "fix"))
    is_command = kind in ("fix", "build")
    member = is_command and random.random() < 0.08
    needs = tuple(f"t{random.randrange(number)}" for _ in range(random.choice((0, 0, 0, 1, 2))) if number)
    return Task(
        f"t{number}",
        kind=kind,
        priority=random.choice((0, 1, 2, 2, 2, 3, 4)),
        needs=() if member else tuple(dict.fromkeys(needs)),
        claims=_claims(random) if is_command and not member else NO_CLAIMS,
        run=("true",) if is_command else (),
        prompt="" if is_command else "a question",
        timeout=random.choice((None, None, 15.0)),
        attempts=random.randint(1, 3),
        parent=random.choice(("", "", "epic")),
        preemptible=random.random() < 0.3,
        barrier=not member and random.random() < 0.05,
        once=random.random() < 0.1,
        deferred=random.random() < 0.05,
        family="schema" if member else "",
        host="shell" if member else "",
        app=random.choice(("", "mail", "log")),
    )


def _claims(random: Random) -> Claims | None:
    if random.random() < 0.1:
        return None  # all of the workspace

    def some() -> tuple[str, ...]:
        return tuple(random.sample(PATHS, random.choice((0, 0, 1, 2))))

    return Claims(some(), some(), some()) if random.random() < 0.7 else NO_CLAIMS
