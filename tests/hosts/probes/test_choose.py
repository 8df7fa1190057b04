"""From the config's word to the probe."""

import pytest

from manyhands.errors import ConfigError
from manyhands.hosts.probes.http import server_root
from manyhands.hosts.probes.probe_choice import PROBE_NAMES, probe_for


async def test_every_name_has_its_probe_and_none_has_none() -> None:
    for name in PROBE_NAMES:
        probe = probe_for(name, url="http://127.0.0.1:9/v1")
        assert (probe is None) == (name == "none")
        if probe is not None:
            await probe.close()


def test_an_unknown_name_is_refused_with_those_there_are() -> None:
    with pytest.raises(ConfigError) as refused:
        probe_for("nvidia")
    assert "'nvidia'" in refused.value.message
    assert "nvml" in refused.value.hint


@pytest.mark.parametrize("name", ["ollama", "vllm", "llamacpp"])
def test_a_server_probe_without_an_address_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="url"):
        probe_for(name)


@pytest.mark.parametrize(
    ("url", "root"),
    [
        ("http://h:1/v1", "http://h:1"),
        ("http://h:1/v1/", "http://h:1"),
        ("http://h:1", "http://h:1"),
        ("https://gateway/box/v1", "https://gateway/box"),
    ],
)
def test_a_servers_own_pages_are_beside_its_api(url: str, root: str) -> None:
    assert server_root(url) == root
