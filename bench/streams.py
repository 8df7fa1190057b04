"""What do 100 browsers on the stream cost a dispatcher that journals over 1,000 events a second; do they miss any?

The goals: every browser sees every attempt end, once; dispatch throughput with them is at least 0.90 of that without.
Rounds with and without take turns in one run. Two loads: tasks of 20 ms, which leave the loop time to spare, and tasks
that do nothing, which leave it none.
"""

import asyncio
import json
import re
import statistics
import sys
import tempfile
import time
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from record import record

from manyhands.core.values.host import Host, Width
from manyhands.core.values.task import Task
from manyhands.engine.run_opening import opening
from manyhands.engine.session import dispatching
from manyhands.hosts.executors.executor import Ended, Executor, ProcessSpawned
from manyhands.hosts.executors.python_executor import PythonExecutor, PythonSettings
from manyhands.surfaces.api.api_server import offering

QUESTION = "streams"
BROWSERS = 100
ROUNDS = 4
GOAL = 0.90
_EVENT = re.compile(rb"^event: (\w+)\nid: \w+-(\d+)\n", re.MULTILINE)
_OVER = re.compile(rb'"ended_at":\d[^}]*"draining"')


async def nap() -> None:
    await asyncio.sleep(0.02)


async def nothing() -> None:
    pass


class Load(NamedTuple):
    name: str
    call: str
    width: int
    tasks: int


#: The width paces the first; the second is as fast as the loop can go.
LOADS = (Load("20 ms tasks", "streams:nap", 16, 4_000), Load("no-op tasks", "streams:nothing", 256, 12_000))


async def round_of(load: Load, browsers: int) -> tuple[float, float, list[list[int]]]:
    """(tasks a second, events a second, attempts that each browser saw end and how many snapshots it got)."""
    host = Host("python", width=Width(load.width, load.width, load.width))

    def executors(journal: str, spawned: ProcessSpawned, ended: Ended, *_: object) -> Mapping[str, Executor]:
        return {"python": PythonExecutor(PythonSettings(workspace=Path.cwd(), journal=journal), spawned, ended)}

    with tempfile.TemporaryDirectory() as made:
        directory = Path(made) / "store"
        async with dispatching(directory, "crash", [host], (), executors) as dispatcher:
            tasks = [Task(f"t{n}", kind="python", call=load.call) for n in range(load.tasks)]
            if not browsers:
                return (*await _timed(dispatcher, tasks), [])
            async with offering(dispatcher, directory, 0) as offered:
                watching = await _begin_watching(offered.url, browsers, load.tasks)
                try:
                    rates = await _timed(dispatcher, tasks)
                    seen = json.loads(await asyncio.wait_for(watching.stdout.read(), 60))  # type: ignore[union-attr]
                    return (*rates, seen)
                finally:
                    if watching.returncode is None:
                        watching.kill()
                    await watching.wait()


async def _timed(dispatcher: object, tasks: list[Task]) -> tuple[float, float]:
    before = dispatcher.last  # type: ignore[attr-defined]
    began = time.perf_counter()
    await dispatcher.submit(*opening("r", dispatcher.clock.now(), tasks))  # type: ignore[attr-defined]
    await dispatcher.wait_settled("r")  # type: ignore[attr-defined]
    took_s = time.perf_counter() - began
    return len(tasks) / took_s, (dispatcher.last - before) / took_s  # type: ignore[attr-defined]


async def _begin_watching(url: str, browsers: int, tasks: int) -> asyncio.subprocess.Process:
    arguments = [sys.executable, __file__, "--watch", url, str(browsers), str(tasks)]
    process = await asyncio.create_subprocess_exec(*arguments, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    assert await process.stdout.readline() == b"ready\n"
    return process


# The browsers: a process of their own


async def watch(url: str, browsers: int, tasks: int) -> None:
    host, port = url.removeprefix("http://").split(":")
    ready = asyncio.Semaphore(0)
    watching = [asyncio.create_task(one(host, int(port), tasks, ready)) for _ in range(browsers)]
    for _ in range(browsers):
        await ready.acquire()
    print("ready", flush=True)
    print(json.dumps(await asyncio.gather(*watching)), flush=True)


async def one(host: str, port: int, tasks: int, ready: asyncio.Semaphore) -> tuple[int, int]:
    """(attempts it saw end, snapshots it got), read until the run is told to be over; a frame that is missing fails."""
    reader, writer = await asyncio.open_connection(host, port, limit=1 << 26)
    writer.write(f"GET /api/v1/stream HTTP/1.1\r\nHost: {host}:{port}\r\nAccept-Encoding: gzip\r\n\r\n".encode())
    await reader.readuntil(b"\r\n\r\n")
    unpacker = zlib.decompressobj(16 + zlib.MAX_WBITS)
    ended, snapshots, frame, is_over, rest = 0, 0, 0, False, b""
    while not is_over:
        size = int(await asyncio.wait_for(reader.readline(), 60), 16)
        text = rest + unpacker.decompress((await reader.readexactly(size + 2))[:-2])
        whole, _, rest = text.rpartition(b"\n\n")
        for kind, number in _EVENT.findall(whole):
            if kind == b"changes":
                assert frame == int(number) - 1, f"frame {number} after {frame}"
            elif not snapshots:
                ready.release()
            snapshots += kind == b"snapshot"
            frame = int(number)
        ended += whole.count(b'"t":"end"')
        is_over = _OVER.search(whole) is not None
    writer.close()
    return ended, snapshots


def main() -> None:
    for load in LOADS:
        ratios, rates, again = [], [], []
        for _ in range(ROUNDS):
            without, _, _ = asyncio.run(round_of(load, 0))
            with_them, events_per_s, seen = asyncio.run(round_of(load, BROWSERS))
            # Who got a second snapshot saw the others there.
            missed = [one for one in seen if one[1] == 1 and one[0] != load.tasks]
            assert not missed, f"{len(missed)} of {BROWSERS} missed something: {missed[0]} of {load.tasks}"
            again.append(sum(one[1] - 1 for one in seen))
            ratios.append(with_them / without)
            rates.append(events_per_s)
            print(f"{load.name}: {without:,.0f} tasks/s without, {with_them:,.0f} with; {events_per_s:,.0f} events/s")
        ratio = statistics.median(ratios)
        verdict = "" if ratio >= GOAL else "  MISSED"
        print(
            f"{load.name}: ratio {ratio:.3f} (median of {ROUNDS}; goal {GOAL}){verdict}; "
            f"nothing lost by {BROWSERS} browsers, {sum(again)} snapshots instead of frames"
        )
        params = {"load": load.name, "browsers": BROWSERS, "events_per_s": round(statistics.median(rates))}
        record(QUESTION, {**params, "goal": GOAL}, ratio, "ratio")


if __name__ == "__main__":
    if "--watch" in sys.argv:
        asyncio.run(watch(sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
    else:
        main()
