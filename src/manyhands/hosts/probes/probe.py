"""What every probe promises; held for each by tests/hosts/probes/test_probe_contract.py.

- `read` answers within two seconds and never raises: what goes wrong is None and a sentence in `trouble`.
- Shares lie in 0..1, counts and sizes are never negative, totals never fall, a server's restart included.
- Reading costs the host next to nothing and changes nothing on it.
"""

from typing import Protocol

from manyhands.core.values.widths import Reading


class Probe(Protocol):
    trouble: str  # why the last read gave nothing; "" when it gave something

    async def read(self, at: float) -> Reading | None: ...

    async def close(self) -> None:
        """Let go of connections and libraries; harmless when called twice."""
