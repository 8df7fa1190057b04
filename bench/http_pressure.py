"""Do web clients without a token hold up starts? Half-open connections and an endless head, against a quiet port.

Each round starts one attempt that does nothing and waits for its end. The clients are a process of their own. CPU time
that they take from the dispatcher on a machine with few cores is part of what is measured.
"""

import asyncio
import statistics
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from record import record, record_campaign

from manyhands.assembly import open_session
from manyhands.core.values.task import NO_CLAIMS, Task
from manyhands.engine.dispatcher import Dispatcher
from manyhands.engine.run_opening import opening
from manyhands.sources.config.config_reading import load_config
from manyhands.surfaces.api.api_server import offering

QUESTION = "http_pressure"
GOAL = 2.0
ROUNDS = 300
HALF_OPEN = 1_000
HEAD_BYTES = 100 << 20
CONFIG = '[hosts.local]\ntype = "shell"\nwidth = 4\n[store]\ndurability = "crash"\n'


async def start_s(dispatcher: Dispatcher, tag: str) -> list[float]:
    """From the submit of one task to its end on record, over and over."""
    took: list[float] = []
    loop = asyncio.get_running_loop()
    for number in range(ROUNDS):
        run = f"{tag}-{number}"
        began = loop.time()
        task = Task("t", kind="shell", run=("true",), claims=NO_CLAIMS)
        await dispatcher.submit(*opening(run, dispatcher.clock.now(), [task]))
        await dispatcher.wait_settled(run)
        took.append(loop.time() - began)
    return took


async def press(url: str) -> None:
    """Keep so many requests half open, and send one endless head after another, until killed."""
    place = urlsplit(url)

    async def half_open() -> None:
        while True:
            with suppress(OSError):
                reader, writer = await asyncio.open_connection(place.hostname, place.port)
                writer.write(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
                await reader.read()
                writer.close()

    async def endless() -> None:
        while True:
            with suppress(OSError):
                _, writer = await asyncio.open_connection(place.hostname, place.port)
                writer.write(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: ")
                for _ in range(HEAD_BYTES >> 16):
                    writer.write(b"x" * 65_536)
                    await writer.drain()
                writer.close()
            await asyncio.sleep(0.1)

    await asyncio.gather(endless(), *(half_open() for _ in range(HALF_OPEN)))


async def measure(directory: Path) -> tuple[list[float], list[float]]:
    """Quiet, and pressed."""
    config = load_config(directory, environ={})
    async with open_session(config) as dispatcher, offering(dispatcher, config.store_directory, 0) as offered:
        await start_s(dispatcher, "warm")
        quiet = await start_s(dispatcher, "quiet")
        pressing = await asyncio.create_subprocess_exec(sys.executable, __file__, offered.url)
        try:
            await asyncio.sleep(3)
            return quiet, await start_s(dispatcher, "pressed")
        finally:
            pressing.kill()
            await pressing.wait()


def main() -> None:
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as directory:
        Path(directory, "manyhands.toml").write_text(CONFIG)
        quiet, pressed = asyncio.run(measure(Path(directory)))
    print(f"{'':>10} {'p50 ms':>8} {'p95 ms':>8}")
    found: dict[str, dict[str, float]] = {"p50": {}, "p95": {}}
    for name, took in (("quiet", quiet), ("pressed", pressed)):
        found["p50"][name], found["p95"][name] = statistics.median(took), statistics.quantiles(took, n=20)[-1]
        print(f"{name:>10} {found['p50'][name] * 1e3:8.2f} {found['p95'][name] * 1e3:8.2f}")
    ratios = {}
    for which, values in found.items():
        for name, value in values.items():
            params = {"clients": name, "half_open": HALF_OPEN, "of": which}
            record(QUESTION, params, value, "s to run a task of no work")
        ratios[which] = values["pressed"] / values["quiet"]
        record(QUESTION, {"ratio": "pressed / quiet", "half_open": HALF_OPEN, "of": which}, ratios[which], "ratio")
    told = ", ".join(f"{ratio:.2f} × as long at {which}" for which, ratio in ratios.items())
    is_over = ratios["p50"] > GOAL
    print(f"{told} (goal {GOAL} at p50){'  MISSED' if is_over else ''}")
    campaign = f"starts while {HALF_OPEN:,} half-open requests and endless heads press on the port"
    command = f".venv/bin/python bench/{Path(__file__).name}"
    record_campaign(campaign, "", command, ROUNDS, "starts", time.monotonic() - began, is_over, told)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(press(sys.argv[1]))
    else:
        main()
