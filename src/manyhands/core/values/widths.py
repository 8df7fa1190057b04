"""How many attempts a host may have in flight, and when the next may start, learned from how attempts end.

A limit is a function of what it is told: it owns no clock, no queue and no randomness. Every limit is a
msgspec Struct, so its fields are its whole state: a snapshot encodes it as it is and decoding gives it back.
"""

from typing import Protocol

from msgspec import Struct

from manyhands.core.values.ending import EndingKind
from manyhands.core.values.host_memory import HostMemory


class Sample(Struct, frozen=True, omit_defaults=True, gc=False):
    """One attempt that ended, as seen from its host. Every started attempt comes back as exactly one."""

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

    @property
    def took_s(self) -> float:
        return max(1e-6, self.at - self.started_at)

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out


class Reading(Struct, frozen=True, omit_defaults=True):
    """What a probe saw of a host at one moment. What it cannot see is None."""

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
    pressure: float | None = None  # 0..1: share of the last ten seconds in which someone waited for memory
    requests_per_minute: float | None = None  # the limits a server states in its headers
    requests_left: float | None = None
    tokens_per_minute: float | None = None
    tokens_left: float | None = None


class Limit(Protocol):
    """What the number should be, apart from who gets in."""

    @property
    def width(self) -> int:
        """The most attempts that may be in flight now; at least 1."""

    @property
    def reason(self) -> str:
        """Why the width is what it is: a sentence with numbers."""

    def start_at(self, at: float, kind: str, seen_bytes: int = 0) -> tuple[float, str]:
        """When the next attempt of this kind may start, the width aside, and why not now. Asking changes nothing.

        `at`: now. Later: ask again then. `math.inf`: ask again after an ending or a reading.
        `seen_bytes` is the memory this task was seen to use when it ran out of it.
        """

    def started(self, at: float, attempt: int, kind: str, in_flight: int) -> None:
        """An attempt starts; `in_flight` counts it."""

    def observe(self, sample: Sample) -> None: ...

    def read(self, reading: Reading) -> None: ...

    def tick(self, at: float) -> None:
        """Time passed: about once a second while anything is in flight, at least at every event."""

    def export(self) -> HostMemory | None:
        """What the next run should know; None when this one taught nothing."""
