"""What every probe promises. tests/hosts/probes/test_probe_contract.py checks each of them.

- `read` answers within two seconds and never raises: on a failure it returns None and sets `trouble`.
- Shares are in 0..1, counts and sizes are never negative, and totals never fall, even when a server restarts.
- Reading costs the host almost nothing and changes nothing on it.
"""

from typing import Protocol

from manyhands.core.values.widths import Reading


class Probe(Protocol):
    trouble: str  # why the last read gave nothing; "" if it succeeded; unchanged while an answer is awaited

    async def read(self, at: float) -> Reading | None: ...

    async def close(self) -> None:
        """Release connections and libraries. It is harmless to call it twice."""
