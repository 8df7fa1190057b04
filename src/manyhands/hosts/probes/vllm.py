"""What a vLLM server reports on `/metrics`."""

from manyhands.core.values.widths import Reading
from manyhands.hosts.probes.guarded_probe import GuardedProbe
from manyhands.hosts.probes.http import ServerPages
from manyhands.hosts.probes.prometheus import values_of
from manyhands.hosts.probes.rising_total import RisingTotal
from manyhands.readers.no_answer import NoAnswer

RUNNING = "vllm:num_requests_running"
WAITING = "vllm:num_requests_waiting"
KV_USE = ("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc")  # the new name, and the one before 0.10
PREEMPTIONS = "vllm:num_preemptions_total"
TOKENS = "vllm:generation_tokens_total"


class VllmProbe(GuardedProbe):
    def __init__(self, url: str, api_key: str = "") -> None:
        super().__init__()
        self._pages = ServerPages(url, api_key)
        self._preemptions = RisingTotal()
        self._tokens = RisingTotal()

    async def ask(self, at: float) -> Reading:
        found = values_of(await self._pages.get("/metrics"), (RUNNING, WAITING, *KV_USE, PREEMPTIONS, TOKENS))
        if RUNNING not in found or WAITING not in found:
            raise NoAnswer(f"{self._pages.root}/metrics has no {RUNNING}: is it a vLLM server?")
        # Several engines may share one address. Requests add up, but the fullest cache preempts first.
        kv_use = next((max(found[name]) for name in KV_USE if name in found), None)
        preemptions, tokens = found.get(PREEMPTIONS), found.get(TOKENS)
        return Reading(
            at=at,
            source="vllm",
            running=int(sum(found[RUNNING])),
            waiting=int(sum(found[WAITING])),
            kv_use=kv_use,
            preemptions=None if preemptions is None else self._preemptions.told(int(sum(preemptions))),
            tokens_total=None if tokens is None else self._tokens.told(int(sum(tokens))),
        )

    async def close(self) -> None:
        await self._pages.close()
