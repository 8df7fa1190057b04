"""What hosts teach while they work: samples for their limits, widths from these, and memory for later runs."""

from msgspec import Struct, field
from msgspec.structs import replace

from manyhands.core.clutch.difficulty import Difficulty, faded
from manyhands.core.events import Decision, HostRead, WidthMoved
from manyhands.core.state import HostState
from manyhands.core.values.ending import Budget
from manyhands.core.values.host import Host
from manyhands.core.values.host_memory import HostMemory, merged
from manyhands.core.values.widths import Limit, Reading, Sample

DAY_S = 86_400.0


class Memory(Struct):
    """What earlier runs taught, by host. It outlives the hosts of any one configuration."""

    hosts: dict[str, HostMemory] = field(default_factory=dict)
    difficulties: dict[str, Difficulty] = field(default_factory=dict)

    def take_in(self, host: Host, limit: Limit) -> None:
        """A run has finished on this host: the next one starts from what it found."""
        latest = limit.export()
        if latest is not None:
            self.hosts[host.name] = merged(self.hosts.get(host.name), replace(latest, model=host.model))

    def of(self, host: Host) -> HostMemory | None:
        """What is known about this host; or else about another one with the same model, the latest.

        What it bore with another model is forgotten: the simulated hosts do better with nothing than with that.
        """
        known = self.hosts.get(host.name)
        if known is not None and host.model in (known.model, ""):
            return known
        if known is not None and not known.model:  # from before the model was kept
            return known
        alike = [(each.at, name) for name, each in self.hosts.items() if host.model and each.model == host.model]
        if not alike:
            return None
        name = max(alike)[1]
        return replace(self.hosts[name], of=name)

    def difficulty_of(self, name: str, at: float) -> Difficulty:
        """The difficulty to use now: what was seen weeks ago counts little."""
        known = self.difficulties.get(name, Difficulty())
        last_at = max((record.last_at for record in known.kinds.values()), default=at)
        self.difficulties[name] = faded(known, (at - last_at) / DAY_S)
        return self.difficulties[name]

    def forget(self, host: str, kind: str) -> None:
        """All of it, all of one host, or one kind (of one host or of all)."""
        for name in [host] if host else [*{**self.hosts, **self.difficulties}]:
            if not kind:
                self.hosts.pop(name, None)
                self.difficulties.pop(name, None)
                continue
            if (remembered := self.hosts.get(name)) is not None:
                remembered.kinds.pop(kind, None)
            if (difficulty := self.difficulties.get(name)) is not None:
                difficulty.kinds.pop(kind, None)


def is_adaptive(host: Host) -> bool:
    """Does the clutch decide the width? Otherwise the config pins it, and difficulty does not matter either."""
    return host.width.max is None or host.width.min != host.width.max


#: A host is looked at this often while anything is in flight there, and more often while its width grows in time.
LOOK_EVERY_S, LAUNCH_LOOK_S = 1.0, 0.25


def look_every_s(host: HostState) -> float:
    return LAUNCH_LOOK_S if host.limit.is_launching else LOOK_EVERY_S


def observe(host: HostState, sample: Sample) -> None:
    host.limit.tick(sample.at)
    host.limit.observe(sample)
    if host.difficulty is not None:
        host.difficulty.observe(sample)


def read(host: HostState, event: HostRead) -> None:
    host.limit.tick(event.at)
    if event.reading is not None:
        host.limit.read(event.reading)


def read_budget(host: HostState, at: float, budget: Budget) -> None:
    """Rate limits that a server stated with an answer."""
    host.limit.read(
        Reading(
            at,
            "headers",
            requests_per_minute=budget.requests_per_minute,
            requests_left=budget.requests_left,
            tokens_per_minute=budget.tokens_per_minute,
            tokens_left=budget.tokens_left,
        )
    )


def moves(host: HostState, at: float) -> list[Decision]:
    """Where the widths of a host and its lanes differ from what they should be now."""
    width = host.pinned if host.pinned is not None else host.limit.width
    decided: list[Decision] = []
    if width != host.width:
        reason = "set by a person" if host.pinned is not None else host.limit.reason
        decided.append(WidthMoved(at, host.name, width, host.width, reason))
    if host.difficulty is not None:
        for kind, lane in host.lanes.items():
            bound, why = host.lane_bound(kind, width)
            if bound is None and lane.width is None:
                continue
            lane_width = width if bound is None else bound
            if lane_width != lane.width:
                if width != host.width and host.lane_bound(kind, host.width)[0] == lane.width:
                    why = f"with its host, which went from {host.width} to {width}; {why}"
                decided.append(WidthMoved(at, host.name, lane_width, lane.width or 0, why, kind))
    return decided
