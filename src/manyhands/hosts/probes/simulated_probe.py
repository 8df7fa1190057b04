"""The simulated twin of every probe: it shows what the real probe would show of a host, and no more."""

from collections.abc import Callable

from msgspec import structs

from manyhands.core.values.widths import Reading
from manyhands.hosts.probes.guarded_probe import GuardedProbe
from manyhands.hosts.probes.rising_total import RisingTotal
from manyhands.readers.no_answer import NoAnswer

#: What each probe may show of a host; the contract checks real and simulated probes against the same list.
SHOWN_BY: dict[str, frozenset[str]] = {
    "vllm": frozenset({"running", "waiting", "kv_use", "preemptions"}),
    "llamacpp": frozenset({"running", "waiting", "slots", "kv_use"}),
    "ollama": frozenset({"memory_total_bytes", "memory_used_bytes", "spilled"}),
    "nvml": frozenset({"memory_total_bytes", "memory_used_bytes", "utilisation"}),
    "local": frozenset(
        {"memory_total_bytes", "memory_used_bytes", "attempt_bytes", "utilisation", "cores", "pressure"}
    ),
}


def as_seen_by(source: str, truth: Reading) -> Reading:
    """The part of the truth about a host that the named probe shows."""
    shown = {name: getattr(truth, name) for name in SHOWN_BY[source]}
    return Reading(at=truth.at, source=source, **shown)


def shown_fields(reading: Reading) -> frozenset[str]:
    fields = structs.asdict(reading)
    return frozenset(name for name in fields if name not in ("at", "source") and fields[name] is not None)


class SimulatedProbe(GuardedProbe):
    """`truth` gives the whole state of the host at a moment, or None while it is down."""

    def __init__(self, source: str, truth: Callable[[float], Reading | None]) -> None:
        super().__init__()
        self.source = source
        self._truth = truth
        self._preemptions = RisingTotal()

    async def ask(self, at: float) -> Reading:
        truth = self._truth(at)
        if truth is None:
            raise NoAnswer("the simulated host is down")
        seen = as_seen_by(self.source, truth)
        if seen.preemptions is None:
            return seen
        return structs.replace(seen, preemptions=self._preemptions.told(seen.preemptions))
