"""How many attempts a host may have in flight, and when the next may start, learned from how attempts end.

A limit depends only on what it is told: it has no clock, no queue and no randomness. Every limit is a msgspec Struct,
so its fields are its whole state. A snapshot encodes the struct, and decoding restores it.
"""

from typing import Protocol

from msgspec import Struct

from manyhands.core.values.ending import EndingKind
from manyhands.core.values.host_memory import HostMemory


class Sample(Struct, frozen=True, omit_defaults=True, gc=False):
    """One attempt that ended, as its host sees it. Every started attempt gives exactly one sample."""

    at: float  # when it ended
    started_at: float
    attempt: int
    kind: str
    in_flight: float  # mean number in flight on this host while it ran, itself included
    width: int  # the host's width when it started
    ending: EndingKind
    rate_limited: bool = False  # with overloaded: the rate was refused (429), not the load
    quota: bool = False  # with overloaded: a budget is used up until retry_after_s
    retry_after_s: float | None = None
    tokens_in: int = 0  # 0: unknown
    tokens_out: int = 0
    ttft_s: float | None = None
    memory_bytes: int = 0  # peak; 0: unknown
    needs_person: bool = False  # with failed: it stopped to ask a person, which says nothing about its kind
    unreachable: bool = False  # with overloaded: nobody answered, which is not a sign of load

    @property
    def took_s(self) -> float:
        return max(1e-6, self.at - self.started_at)

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out


class Reading(Struct, frozen=True, omit_defaults=True):
    """What a probe saw of a host at one moment. A value that it cannot see is None."""

    at: float
    source: str = ""  # the probe: vllm, ollama, llamacpp, nvml, local, headers
    running: int | None = None  # requests the server works on
    waiting: int | None = None  # requests the server has queued
    kv_use: float | None = None  # 0..1 of the KV cache
    preemptions: int | None = None  # since the server started
    memory_total_bytes: int | None = None
    memory_used_bytes: int | None = None  # by everyone
    attempt_bytes: dict[int, int] | None = None  # attempt → memory it holds now
    utilisation: float | None = None  # 0..1, of the busiest device
    cores: int | None = None
    busy_cores: float | None = None  # cores that attempts kept busy since the last reading
    tokens_total: int | None = None  # tokens answered since the server started
    pressure: float | None = None  # 0..1: share of the last ten seconds in which some process waited for memory
    requests_per_minute: float | None = None  # the limits a server states in its headers
    requests_left: float | None = None
    tokens_per_minute: float | None = None
    tokens_left: float | None = None
    spilled: float | None = None  # 0..1: share of the loaded models that is not on the device
    asked_again: int | None = None  # attempts that were refused since the last reading and ask again by themselves
    slots: int | None = None  # requests the server can work on at once, if it says so


class Limit(Protocol):
    """Decides how many attempts may run, but not which ones."""

    @property
    def width(self) -> int:
        """The most attempts that may be in flight now; at least 1."""

    @property
    def reason(self) -> str:
        """Why the width is what it is: a sentence with numbers."""

    def start_at(self, at: float, kind: str, seen_bytes: int = 0) -> tuple[float, str]:
        """When the next attempt of this kind may start, apart from the width, and why not now. Asking changes nothing.

        `at`: now. Later: ask again then. `math.inf`: ask again after an ending or a reading.
        `seen_bytes` is the memory that this task used when it ran out of memory.
        """

    def started(self, at: float, attempt: int, kind: str, in_flight: int) -> None:
        """An attempt starts; `in_flight` counts it."""

    def showed(self, at: float, attempt: int) -> None:
        """The attempt has put out something for the first time."""

    def observe(self, sample: Sample) -> None: ...

    def read(self, reading: Reading) -> None: ...

    def tick(self, at: float) -> None:
        """Time has passed. Called at every event, and about once a second while attempts run."""

    @property
    def is_launching(self) -> bool:
        """Does the width grow in time now? Then it is looked at more often."""

    def export(self) -> HostMemory | None:
        """What the next run should know. None if this run taught nothing."""


class PlainLimit(Struct):
    """A limit without a pace or a memory. It ignores what it is told, except where a subclass listens."""

    def start_at(self, at: float, kind: str, seen_bytes: int = 0) -> tuple[float, str]:
        return at, ""

    def started(self, at: float, attempt: int, kind: str, in_flight: int) -> None:
        pass

    def showed(self, at: float, attempt: int) -> None:
        pass

    def observe(self, sample: Sample) -> None:
        pass

    def read(self, reading: Reading) -> None:
        pass

    def tick(self, at: float) -> None:
        pass

    @property
    def is_launching(self) -> bool:
        return False

    def export(self) -> HostMemory | None:
        return None
