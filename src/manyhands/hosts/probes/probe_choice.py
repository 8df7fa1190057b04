"""From a host's `probe = "…"` in the config to the probe itself."""

import os

from manyhands.errors import ConfigError
from manyhands.hosts.probes.local import AttemptsNow, LocalProbe
from manyhands.hosts.probes.probe import Probe

PROBE_NAMES = ("ollama", "vllm", "llamacpp", "nvml", "local", "none")


def probe_for(
    name: str, *, url: str = "", api_key: str = "", attempts: AttemptsNow = dict, memory_bytes: int | None = None
) -> Probe | None:
    """None for "none". `url` is the host's API address; `attempts` are those whose memory "local" adds up.

    `memory_bytes` is the memory of the server's device, for a server that does not report it.
    """
    if name not in PROBE_NAMES:
        raise ConfigError(f"no probe is called {name!r}", f"use one of {', '.join(PROBE_NAMES)}")
    if name in ("ollama", "vllm", "llamacpp") and not url:
        raise ConfigError(f"probe {name!r} needs the host's `url`", 'give the host a url, or use probe = "none"')
    match name:
        case "ollama":
            from manyhands.hosts.probes.ollama import OllamaProbe

            return OllamaProbe(url, api_key, memory_bytes)
        case "vllm":
            from manyhands.hosts.probes.vllm import VllmProbe

            return VllmProbe(url, api_key)
        case "llamacpp":
            from manyhands.hosts.probes.llamacpp import LlamacppProbe

            return LlamacppProbe(url, api_key)
        case "nvml":
            from manyhands.hosts.probes.nvml_probe import NvmlProbe
            from manyhands.readers.nvml_reader import NvmlReader

            return NvmlProbe(NvmlReader(os.environ.get("CUDA_VISIBLE_DEVICES")))
        case "local":
            return LocalProbe(attempts)
    return None
