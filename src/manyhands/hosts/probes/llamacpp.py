"""What a llama.cpp server reports: `/metrics` if it is switched on, otherwise `/slots`."""

import msgspec

from manyhands.core.values.widths import Reading
from manyhands.hosts.probes.guarded_probe import GuardedProbe
from manyhands.hosts.probes.http import NotOffered, ServerPages
from manyhands.hosts.probes.prometheus import values_of
from manyhands.hosts.probes.rising_total import RisingTotal
from manyhands.readers.no_answer import NoAnswer

PROCESSING = "llamacpp:requests_processing"
DEFERRED = "llamacpp:requests_deferred"
TOKENS = "llamacpp:tokens_predicted_total"
KV_USE = "llamacpp:kv_cache_usage_ratio"  # only servers from before May 2025 report it


class Slot(msgspec.Struct):
    is_processing: bool


class Props(msgspec.Struct):
    total_slots: int = 0


class LlamacppProbe(GuardedProbe):
    def __init__(self, url: str, api_key: str = "") -> None:
        super().__init__()
        self._pages = ServerPages(url, api_key)
        self._tokens = RisingTotal()
        self._slots: int | None = None  # as the server said; None: not asked yet, or it does not say

    async def ask(self, at: float) -> Reading:
        try:
            page = await self._pages.get("/metrics")
        except NotOffered:
            return await self._ask_slots(at)
        found = values_of(page, (PROCESSING, DEFERRED, KV_USE, TOKENS))
        if self._slots is None:
            self._slots = await self._ask_how_many()
        if PROCESSING not in found or DEFERRED not in found:
            raise NoAnswer(f"{self._pages.root}/metrics has no {PROCESSING}: is it a llama.cpp server?")
        return Reading(
            at=at,
            source="llamacpp",
            running=int(sum(found[PROCESSING])),
            waiting=int(sum(found[DEFERRED])),
            slots=self._slots or None,
            kv_use=max(found[KV_USE]) if KV_USE in found else None,
            tokens_total=self._tokens.told(int(sum(found[TOKENS]))) if TOKENS in found else None,
        )

    async def _ask_slots(self, at: float) -> Reading:
        try:
            page = await self._pages.get("/slots")
        except NotOffered:
            root = self._pages.root
            raise NoAnswer(f"{root} offers neither /metrics nor /slots: start it with --metrics") from None
        try:
            slots = msgspec.json.decode(page, type=list[Slot])
        except (ValueError, RecursionError) as error:
            raise NoAnswer(f"{self._pages.root}/slots is not a list of slots: {error}") from None
        running = sum(slot.is_processing for slot in slots)
        return Reading(at=at, source="llamacpp", running=running, slots=len(slots) or None)

    async def _ask_how_many(self) -> int:
        """How many requests it works on at once; 0: it does not say."""
        try:
            return max(0, msgspec.json.decode(await self._pages.get("/props"), type=Props).total_slots)
        except (NoAnswer, ValueError, RecursionError):
            return 0

    async def close(self) -> None:
        await self._pages.close()
