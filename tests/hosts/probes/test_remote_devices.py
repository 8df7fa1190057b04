"""Width from the memory of devices elsewhere: commands, `manyhands probe --serve`, and models that spill."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from hosts.probes.page_server import PageServer
from hosts.probes.pages import ollama_page
from manyhands.core.clutch.resources import DeviceGauge
from manyhands.core.values.widths import Reading
from manyhands.hosts.probes.command_probe import CommandProbe
from manyhands.hosts.probes.device_report import reading_of
from manyhands.hosts.probes.ollama import OllamaProbe
from manyhands.hosts.probes.probe import Probe
from manyhands.hosts.probes.remote_probe import RemoteProbe
from manyhands.readers.no_answer import NoAnswer
from surfaces.cli.console import Console, console

__all__ = ["console"]

MIB = 2**20
#: In the shapes that the programs document.
WITH_HEADER = b"""memory.used [MiB], memory.total [MiB], utilization.gpu [%]
1000 MiB, 8192 MiB, 12 %
6000 MiB, 8192 MiB, 97 %
"""
OTHER_ORDER = b"""index, name, memory.total [MiB], memory.free [MiB]
0, NVIDIA GeForce RTX 3070, 8192, 2192
"""
BARE = b"6000, 8192, 97\n"
GPUSTAT = json.dumps({"hostname": "box", "gpus": [{"memory.used": 6000, "memory.total": 8192, "utilization.gpu": 97}]})
OURS = json.dumps({"devices": [], "machine": {"memory_total_bytes": 8192 * MIB, "memory_used_bytes": 6000 * MIB}})


async def answered(probe: Probe, at: float) -> Reading:
    """On a busy machine the first answers may come too late."""
    for _ in range(50):
        if (reading := await probe.read(at)) is not None:
            return reading
    raise AssertionError(probe.trouble)


@pytest.mark.parametrize(
    ("output", "busy"),
    [(WITH_HEADER, 0.97), (OTHER_ORDER, None), (BARE, 0.97), (GPUSTAT.encode(), 0.97), (OURS.encode(), None)],
)
def test_every_shape_tells_the_fullest_device(output: bytes, busy: float | None) -> None:
    reading = reading_of(output, 3.0, "command")
    assert (reading.memory_used_bytes, reading.memory_total_bytes) == (6000 * MIB, 8192 * MIB)
    assert reading.utilisation == busy


@pytest.mark.parametrize(
    "output",
    [
        b"",
        b"{",
        b"[1, 2]",
        b"{}",
        b"No devices were found\n",
        b"memory.used [MiB]\n[N/A]\n",
        b"9000, 8192, 1",
        b"1.2.3, 8192, 1",
        b"\xff\x00",
        b"[" * 100_000,
        b'{"memory_total_bytes": true, "memory_used_bytes": -1}',
    ],
)
def test_anything_else_is_no_answer(output: bytes) -> None:
    with pytest.raises(NoAnswer):
        reading_of(output, 0.0, "command")


async def test_a_card_that_fills_narrows_the_width_and_says_why(tmp_path: Path) -> None:
    """A simulated card: a command prints what a file holds, as `ssh box nvidia-smi …` would."""
    card = tmp_path / "card"
    probe = CommandProbe(["cat", str(card)])
    gauge = DeviceGauge()
    for at, used in enumerate((3000, 6000, 8000)):
        card.write_text(f"{used}, 8192, 50\n")
        reading = None
        for _ in range(50):  # a busy machine may answer with the next reading
            reading = await probe.read(float(at)) or reading
            if reading is not None and reading.memory_used_bytes == used * MIB:
                break
        assert reading is not None, probe.trouble
        gauge.read(reading, in_flight=4)
    assert gauge.cap == 3
    assert gauge.reason == "memory 98% over 95%: 4 → 3"
    await probe.close()


@pytest.mark.parametrize(
    ("argv", "trouble"),
    [
        (["no-such-program"], "cannot be started"),
        (["false"], "failed with exit 1"),
        ([sys.executable, "-c", "print('x' * 1_000_000)"], "printed more than"),
        (["echo", "hello; touch pwned"], "no memory in its answer"),
    ],
)
async def test_a_command_that_fails_is_trouble_and_nothing_more(argv: list[str], trouble: str) -> None:
    probe = CommandProbe(argv)
    for _ in range(50):
        assert await probe.read(1.0) is None
        if trouble in probe.trouble:
            break
    assert trouble in probe.trouble
    await probe.close()


async def test_a_command_that_hangs_is_killed() -> None:
    probe = CommandProbe(["sleep", "1000"], within_s=0.05)
    for _ in range(50):
        assert await probe.read(1.0) is None
        if "took longer" in probe.trouble:
            break
    assert "took longer than 0.05 s" in probe.trouble
    await probe.close()
    waiting = CommandProbe(["sleep", "1000"])
    assert await waiting.read(1.0) is None
    assert waiting.trouble == "", "it may still answer"
    await waiting.close()


async def test_a_model_that_begins_to_spill_bounds_the_width_without_knowing_the_card() -> None:
    server = PageServer({"/api/ps": ollama_page(size=6000, size_vram=6000)})
    await server.start()
    probe = OllamaProbe(f"{server.url}/v1")
    gauge = DeviceGauge()
    for at, on_device in enumerate((6000, 4500)):
        server.pages["/api/ps"] = ollama_page(size=6000, size_vram=on_device)
        reading = await answered(probe, float(at))
        gauge.read(reading, in_flight=3)
    assert (gauge.cap, gauge.reason) == (2, "25% of the model is in main memory: 3 → 2")
    always = DeviceGauge()
    always.read(reading, in_flight=3)
    assert always.cap is None, "a model that never fitted says nothing about the width"
    await probe.close()
    await server.stop()


def test_the_agent_answers_on_loopback_and_elsewhere_only_with_a_token(console: Console) -> None:
    refused = console.run("probe", "--serve", "--address", "0.0.0.0")
    assert refused.code == 2
    assert "--token-env" in refused.err
    printed = console.run("probe").json
    assert printed["machine"]["memory_total_bytes"] > 0
    live = console.start("probe", "--serve", "--port", "0", "--token-env", "TOKEN", TOKEN="secret-1")
    live.wait_for("answers GET /probe")
    out = next(console.directory.glob("console-*/out")).read_text()
    url = out.splitlines()[0]

    async def ask() -> None:
        with_token, without = RemoteProbe(url, "secret-1"), RemoteProbe(url)
        assert (await answered(with_token, 1.0)).memory_total_bytes
        assert await without.read(1.0) is None
        assert "401" in without.trouble or "no answer" in without.trouble
        await with_token.close()
        await without.close()

    asyncio.run(ask())
    live.process.terminate()
    assert live.end().code == 0
