"""Asks `manyhands probe --serve` on another machine for the memory of its devices."""

from manyhands.core.values.widths import Reading
from manyhands.hosts.probes.device_report import reading_of
from manyhands.hosts.probes.guarded_probe import GuardedProbe
from manyhands.hosts.probes.http import ServerPages


class RemoteProbe(GuardedProbe):
    def __init__(self, url: str, token: str = "") -> None:
        super().__init__()
        self._pages = ServerPages(url, token)

    async def ask(self, at: float) -> Reading:
        return reading_of(await self._pages.get("/probe"), at, "remote")

    async def close(self) -> None:
        await self._pages.close()
