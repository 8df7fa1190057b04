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


class LlamacppProbe(GuardedProbe):
    def __init__(self, url: str, api_key: str = "") -> None:
        super().__init__()
        self._pages = ServerPages(url, api_key)
        self._tokens = RisingTotal()

    async def ask(self, at: float) -> Reading:
        try:
            page = await self._pages.get("/metrics")
        except NotOffered:
            return await self._ask_slots(at)
        found = values_of(page, (PROCESSING, DEFERRED, KV_USE, TOKENS))
        if PROCESSING not in found or DEFERRED not in found:
            raise NoAnswer(f"{self._pages.root}/metrics has no {PROCESSING}: is it a llama.cpp server?")
        return Reading(
            at=at,
            source="llamacpp",
            running=int(sum(found[PROCESSING])),
            waiting=int(sum(found[DEFERRED])),
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
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise NoAnswer(f"{self._pages.root}/slots is not a list of slots: {error}") from None
        return Reading(at=at, source="llamacpp", running=sum(slot.is_processing for slot in slots))

    async def close(self) -> None:
        await self._pages.close()
