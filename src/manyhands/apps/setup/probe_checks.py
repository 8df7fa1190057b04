"""Each probe is read once, as a run would read it: what it shows, or why it shows nothing."""

import asyncio
import time
from collections.abc import Sequence

from manyhands.apps.setup.finding import Finding
from manyhands.core.learning import is_adaptive
from manyhands.core.values.widths import Reading
from manyhands.engine.probing import probe_of
from manyhands.hosts.probes.ollama import OllamaModel, OllamaProbe
from manyhands.hosts.probes.probe import Probe
from manyhands.sources.config.config_types import Config, HostConfig, OpenaiHost

#: A server that has just been started may answer too late once.
_TRIES = 2


def probe_findings(config: Config) -> list[Finding]:
    """Of the hosts whose probe a run would read, but for those that look at this machine's own memory."""
    hosts = [host for host in config.hosts if is_adaptive(host.core_host()) and host.probe != "local"]
    return asyncio.run(_findings(hosts)) if hosts else []


async def _findings(hosts: Sequence[HostConfig]) -> list[Finding]:
    found = await asyncio.gather(*map(_finding, hosts))
    return [finding for finding in found if finding is not None]


async def _finding(host: HostConfig) -> Finding | None:
    probe = probe_of(host)
    if probe is None:
        return None
    try:
        reading = await _first_reading(probe)
    finally:
        await probe.close()
    what = f"probe of {host.name}"
    if reading is None:
        return Finding(what, False, probe.trouble, _fix(host))
    if isinstance(probe, OllamaProbe):
        return _ollama(what, host, probe.loaded)
    return Finding(what, True, _told(reading))


async def _first_reading(probe: Probe) -> Reading | None:
    failures = 0
    while failures < _TRIES:
        reading = await probe.read(time.time())
        if reading is not None:
            return reading
        failures += bool(probe.trouble)  # without trouble, its answer is awaited
    return None


def _fix(host: HostConfig) -> str:
    if isinstance(host, OpenaiHost) and host.probe.run:
        return f"try `{' '.join(host.probe.run)}` by hand: it must print the memory of the device within 10 s"
    if isinstance(host, OpenaiHost) and host.probe.token_env:
        variable = host.probe.token_env
        return f"does `manyhands probe --serve` run there, with the token that `{variable}` has here?"
    if isinstance(host, OpenaiHost) and host.probe.url:
        return "does `manyhands probe --serve` run there?"
    return f"correct `probe` of [hosts.{host.name}], or leave it out: then the width is found without it"


def _ollama(what: str, host: HostConfig, models: Sequence[OllamaModel]) -> Finding:
    memory_gb = host.memory_gb if isinstance(host, OpenaiHost) else None
    used_gb = sum(model.size_vram for model in models) / 1e9
    if memory_gb is not None and used_gb > memory_gb:
        says = f"its models take {_gb(used_gb)} of a device of {_gb(memory_gb)}"
        return Finding(what, False, says, f"correct `memory_gb` of [hosts.{host.name}]")
    if not models:
        return Finding(what, True, "no model is loaded now")
    return Finding(what, True, "; ".join(map(_told_model, models)))


def _told_model(model: OllamaModel) -> str:
    parts = [model.name, _gb(model.size / 1e9), f"{_gb(model.size_vram / 1e9)} of it on the device"]
    if model.context_length is not None:
        parts.append(f"context {model.context_length:,}")
    return ", ".join(parts)


def _told(reading: Reading) -> str:
    parts = []
    if reading.memory_total_bytes is not None and reading.memory_used_bytes is not None:
        parts.append(f"{reading.memory_used_bytes / 1e9:.3g} of {_gb(reading.memory_total_bytes / 1e9)} used")
    if reading.utilisation is not None:
        parts.append(f"{reading.utilisation:.0%} busy")
    if reading.running is not None:
        parts.append(f"running {reading.running}")
    if reading.waiting is not None:
        parts.append(f"waiting {reading.waiting}")
    if reading.kv_use is not None:
        parts.append(f"{reading.kv_use:.0%} of the KV cache used")
    if reading.slots is not None:
        parts.append(f"slots {reading.slots}")
    return ", ".join(parts) or "it answers"


def _gb(size: float) -> str:
    return f"{size:.3g} GB"
