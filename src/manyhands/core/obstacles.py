"""What keeps a ready task from starting: one function, used to decide and to explain.

Obstacles are checked in the order in which a person would ask. Is the run active? Does a rule hold the task back? Is
there room anywhere? Are its claims free? Nothing here changes state.
"""

from typing import Literal

from msgspec import Struct

from manyhands.core.claims import Holdings, conflict
from manyhands.core.quiet import clock_words
from manyhands.core.ready import Group, Pool, ReadySet, Token
from manyhands.core.state import HostState, Running
from manyhands.core.values.provenance import Origin
from manyhands.core.values.spending_limit import BudgetHold
from manyhands.core.values.task import Claims
from manyhands.core.wishes import wish_for


class Obstacle(Struct, frozen=True):
    """Why not now. The group can be parked on `token`; without a token the whole pool waits."""

    what: str  # drained, budget, rule, concurrency, host, claim, reservation, parent
    text: str  # for people; empty for a claim, where `holder` says all
    token: Token | None = None
    holder: Running | None = None  # the attempt in the way, if it is an attempt


def run_obstacle(pool: Pool) -> Obstacle | None:
    run = pool.run
    if run.draining and run.max_cost is not None and run.cost >= run.max_cost:
        return Obstacle("drained", f"run {run.name} has cost {run.cost:.2f} of at most {run.max_cost:.2f}")
    if run.draining:
        return Obstacle("drained", f"run {run.name} is stopping and starts nothing more")
    if run.budget_hold is not None:
        return Obstacle("budget", str(run.budget_hold))
    if pool.held_by is not None:
        return Obstacle("rule", str(pool.held_by))
    if run.concurrency is not None and run.in_flight >= run.concurrency:
        return Obstacle("concurrency", f"run {run.name} has {run.in_flight} of {run.concurrency} in flight")
    return None


class Hold(Struct, frozen=True):
    """What lets a host start nothing for a time that is known, or until a person spends more."""

    what: Literal["quiet", "budget"]
    text: str
    until: float | None


def hold_of(host: HostState) -> Hold | None:
    if host.quiet_until is not None:
        return Hold("quiet", f"{host.name} is quiet until {clock_words(host.quiet_until)}", host.quiet_until)
    return budget_hold(host.budget_hold)


def budget_hold(hold: BudgetHold | None) -> Hold | None:
    return None if hold is None else Hold("budget", str(hold), hold.until)


def host_obstacle(host: HostState, group: Group) -> str | None:
    """Why this host cannot take the group's first task now. None if it can, apart from rates and memory."""
    kind = group.key.kind
    if host.paused is not None:
        return f"{host.name} is {host.paused}" if host.is_closed else f"{host.name} is paused: {host.paused}"
    if (hold := hold_of(host)) is not None:
        return f"{host.name}: {hold.text}" if hold.what == "budget" else hold.text
    if host.barrier is not None:
        return f"{host.barrier.task.id} runs alone on {host.name}"
    if host.kept_by and host.kept_by != group.key.barrier:
        return f"{host.name} is reserved for {host.kept_by} until that has finished"
    if (kept_for := host.kept_for) is not None and is_kept_from(host, group):
        return f"{host.name} is emptying for {kept_for.head.task.id} ({len(host.running)} still running there)"
    in_flight = len(host.running)
    if host.on_trial and in_flight:
        return f"{host.name} takes one attempt at a time until it answers again"
    if in_flight >= host.width:
        return f"waiting for a slot on {host.name} ({in_flight} of {host.width}; {host.reason})"
    if group.key.barrier and in_flight and host.kept_by != group.key.barrier:
        return f"needs {host.name} alone ({in_flight} still running there)"
    if host.host.lease_s is not None and wish_for(host, group.head) is None:
        return _nobody_asks(host, group)
    lane = host.lane(kind)
    if lane.width is not None and lane.in_flight >= lane.width:
        return f"waiting for a slot in lane {kind} of {host.name} ({lane.in_flight} of {lane.width}; {lane.why})"
    for name, amount in group.key.resources:
        free = resource_of(host, name) - host.used.get(name, 0.0)
        if amount > free:
            return f"{host.name} has {free:g} {name} free, but the task asks for {amount:g}"
    return None


def _nobody_asks(host: HostState, group: Group) -> str:
    if group.head.origin is Origin.RESERVED:
        return f"the agent that reserved it does not wait for it on {host.name}"
    if group.head.task.workspace:
        return f"{host.name} has no worktrees: agents come to it and work where they are"
    waiting = len(host.wishes)
    others = f"; {waiting} {'waits' if waiting == 1 else 'wait'} for other tasks" if waiting else ""
    return f"no agent asks {host.name} for a task of kind {group.key.kind}{others}"


def is_kept_from(host: HostState, group: Group) -> bool:
    """Is the host emptying for another group that is at least as urgent?"""
    kept_for = host.kept_for
    if kept_for is None or kept_for is group:
        return False
    return kept_for.head.task.priority <= group.head.task.priority


def could_ever_take(host: HostState, group: Group) -> bool:
    """Would it have room if nothing ran there?"""
    lane = host.lane(group.key.kind)
    if host.width < 1 or (lane.width is not None and lane.width < 1):
        return False
    return has_enough(host, group)


def has_enough(host: HostState, group: Group) -> bool:
    """Has the host, when nothing runs there, what the group's tasks ask for?"""
    return all(resource_of(host, name) >= amount for name, amount in group.key.resources)


def no_host_has_enough(group: Group) -> bool:
    """Such tasks can never run with these hosts; also if no host takes their kind."""
    return not any(has_enough(host, group) for host in group.pool.hosts)


def resource_of(host: HostState, name: str) -> float:
    return host.host.resources.get(name, 0.0)


def group_obstacle(group: Group, held: Holdings, running: dict[int, Running], ready: ReadySet) -> Obstacle | None:
    """What stops this group alone: the bound of its parent, or its claims."""
    key = group.key
    run = group.pool.run
    if key.parent:
        bound = run.parent_bounds[key.parent]
        now = run.children_in_flight.get(key.parent, 0)
        if now >= bound:
            return Obstacle(
                "parent",
                f"parent {key.parent} has {now} of {bound} children in flight",
                ("parent", (run.name, key.parent)),
            )
    claims = key.claims
    if claims.write or claims.append or claims.read:
        holder = held.first_conflict(claims)
        if holder is not None:
            who = running[holder]
            return Obstacle("claim", "", ("attempt", holder), who)
        for other in ready.reservations:
            if other is group:
                break
            if other.head.task.priority <= group.head.task.priority and conflict(claims, other.key.claims):
                text = f"its claims are reserved for {other.head.task.id}, which was passed over {other.bypassed} times"
                return Obstacle("reservation", text, ("reservation", other))
    return None


def what_meets(mine: Claims, theirs: Claims) -> str:
    """My claim that the other one holds, for people."""
    for mode in ("write", "append", "read"):
        for pattern in getattr(mine, mode):
            if conflict(Claims(**{mode: (pattern,)}), theirs):
                return f"{pattern} (to {mode})"
    return "a claim"
