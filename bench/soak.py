"""Does a dispatcher stay flat under load? 500 starts/s for ten minutes, 10,000 attempts at once, 1,000 followers.

And a simulated day with 1,000 slots full. What may grow (memory, descriptors, threads, the time to open the journal)
is compared over the last and the first third of the samples. `--seconds 20` and `--part NAME` make it shorter.
"""

import argparse
import asyncio
import os
import resource
import statistics
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import msgspec
import streams
from noop import WIDTH, _resident_bytes
from record import record, record_campaign
from thousand_hosts import EXAMPLE

from manyhands.core.events import RunPutAway
from manyhands.core.scheduler import Scheduler
from manyhands.core.values.host import Host, Width
from manyhands.core.values.task import Task
from manyhands.engine.dispatcher import Dispatcher
from manyhands.engine.recovery import rebuild
from manyhands.engine.run_opening import opening
from manyhands.engine.session import dispatching
from manyhands.engine.sim.load_trial import run_load
from manyhands.engine.sim.scenario import read_scenario
from manyhands.engine.store.sqlite.sqlite_store import open_reader
from manyhands.hosts.executors.executor import Ended, Executor, ProcessSpawned
from manyhands.hosts.executors.python_executor import PythonExecutor, PythonSettings

QUESTION = "soak"
STARTS_PER_S = 500
AT_ONCE = 10_000
FOLLOWERS = 1_000
FOLLOWED = streams.Load("20 ms tasks", "streams:nap", 16, 2_000)
DAY_S = 86_400.0
#: Of the last third to the first: a leak of a percent a minute shows.
GROWTH_MAX = 1.10
SAMPLES = 60

_all_there = asyncio.Event()
_there = 0


async def wait_for_all() -> None:
    """The task: it ends when the last of them has begun."""
    global _there
    _there += 1
    if _there == AT_ONCE:
        _all_there.set()
    await _all_there.wait()


def executors(journal: str, spawned: ProcessSpawned, ended: Ended, *_: object) -> Mapping[str, Executor]:
    return {"python": PythonExecutor(PythonSettings(workspace=Path.cwd(), journal=journal), spawned, ended)}


def opened_s(store: Path) -> float:
    """How long the book takes to be rebuilt from the journal, in processor time."""
    began = time.thread_time()
    with closing(open_reader(store)) as reader:
        rebuild(reader, Scheduler())
    return time.thread_time() - began


async def starts(seconds: float) -> None:
    """A run of tasks each second. It is put away when it has ended, as a queue would do."""
    with tempfile.TemporaryDirectory(dir=Path(__file__).parent) as made:
        store = Path(made) / "store"
        host = Host("python", width=Width(WIDTH, WIDTH, WIDTH))
        async with dispatching(store, "crash", [host], (), executors) as dispatcher:
            samples: dict[str, list[float]] = {}
            late = 0.0
            loop = asyncio.get_running_loop()
            began = loop.time()
            sampled = 0
            for second in range(round(seconds)):
                await asyncio.sleep(began + second - loop.time())
                late = max(late, loop.time() - began - second)
                await one_second(dispatcher, f"r{second}")
                if second * SAMPLES / seconds >= sampled:
                    sampled += 1
                    await sample(samples, store)
            took = loop.time() - began
    tasks = STARTS_PER_S * round(seconds)
    growth = {}
    for name, values in samples.items():
        third = len(values) // 3
        first, last = statistics.median(values[:third]), statistics.median(values[-third:])
        growth[name] = last / first
        print(f"{name:>20}: {first:,.4g} in the first third, {last:,.4g} in the last: {growth[name]:.3f} ×")
        record(QUESTION, {"what": name, "seconds": round(seconds)}, growth[name], "ratio, last third / first third")
    told = f"{tasks / took:,.0f} starts/s, at most {late:.2f} s late; " + ", ".join(
        f"{name} {ratio:.2f} ×" for name, ratio in growth.items()
    )
    # The journal grows, and the snapshot that it is opened from moves along: its time varies by what follows it.
    has_grown = any(ratio > GROWTH_MAX for name, ratio in growth.items() if name != "opening")
    tell(f"{STARTS_PER_S} starts a second", "starts", tasks, "starts", took, has_grown or tasks / took < 499, told)


async def one_second(dispatcher: Dispatcher, run: str) -> None:
    tasks = [Task(f"t{n}", kind="python", call="noop:nothing") for n in range(STARTS_PER_S)]
    await dispatcher.submit(*opening(run, dispatcher.clock.now(), tasks))
    await dispatcher.wait_settled(run)
    done = dispatcher.book.runs[run].counts["done"]  # type: ignore[index]
    assert done == STARTS_PER_S, f"{done} of {STARTS_PER_S} done"
    await dispatcher.submit(RunPutAway(dispatcher.clock.now(), run))


async def sample(samples: dict[str, list[float]], store: Path) -> None:
    now = {
        "memory": _resident_bytes(),
        "descriptors": len(os.listdir("/proc/self/fd")),
        "threads": threading.active_count(),
        "opening": await asyncio.to_thread(opened_s, store),
    }
    for name, value in now.items():
        samples.setdefault(name, []).append(value)


async def in_flight() -> None:
    began = time.monotonic()
    with tempfile.TemporaryDirectory(dir=Path(__file__).parent) as made:
        host = Host("python", width=Width(AT_ONCE, AT_ONCE, AT_ONCE))
        async with dispatching(Path(made) / "store", "crash", [host], (), executors) as dispatcher:
            tasks = [Task(f"t{n}", kind="python", call="soak:wait_for_all") for n in range(AT_ONCE)]
            await dispatcher.submit(*opening("r", dispatcher.clock.now(), tasks))
            await dispatcher.wait_settled("r")
            done = dispatcher.book.runs["r"].counts["done"]  # type: ignore[index]
    took = time.monotonic() - began
    tell("attempts at once, each waiting for the last to begin", "in-flight", AT_ONCE, "attempts", took, done < AT_ONCE)


def followers() -> None:
    began = time.monotonic()
    _, events_per_s, seen = asyncio.run(streams.round_of(FOLLOWED, FOLLOWERS))
    # Whoever got a second snapshot saw the others there.
    missed = [one for one in seen if one[1] == 1 and one[0] != FOLLOWED.tasks]
    again = sum(one[1] - 1 for one in seen)
    found = f"{events_per_s:,.0f} events/s, {again} snapshots instead of frames"
    took = time.monotonic() - began
    tell("followers of the page, each sees every end", "followers", len(seen), "followers", took, bool(missed), found)


def day(seconds: float) -> None:
    """1,000 slots full of tasks of some minutes for a day of virtual time, or less."""
    scenario = read_scenario(EXAMPLE)
    node = scenario.hosts["node"]
    mean_s = sum(share["share"] * share["seconds"] for share in node.parameters["mix"])
    slots = 1_000
    tasks = round(slots * seconds / mean_s)
    fewer = msgspec.structs.replace(node, count=10)
    backlog = msgspec.structs.replace(scenario.backlog[0], tasks=tasks, block=slots)
    memory: list[float] = []
    began = time.monotonic()
    found = run_load(
        msgspec.structs.replace(scenario, hosts={"node": fewer}, backlog=(backlog,)),
        put_away=lambda done: memory.append(_resident_bytes()),
    )
    third = max(1, len(memory) // 3)
    growth = statistics.median(memory[-third:]) / statistics.median(memory[:third])
    full = found.utilisation or 0.0
    record(QUESTION, {"what": "memory", "virtual_s": round(seconds)}, growth, "ratio, last third / first third")
    told = f"{found.makespan_s / 3600:.1f} h, slots {full:.1%} full, memory {growth:.2f} ×"
    is_short = found.done != tasks or growth > GROWTH_MAX
    tell(f"a simulated day with {slots:,} slots", "day", found.done, "tasks", time.monotonic() - began, is_short, told)


def tell(what: str, part: str, times: int, unit: str, took_s: float, failed: bool, found: str = "") -> None:
    print(f"{times:,} {unit}: {what}; {found or 'all done'}{'  MISSED' if failed else ''} ({took_s:.0f} s)", flush=True)
    record_campaign(
        f"load: {what}", part, f".venv/bin/python bench/soak.py --part {part}", times, unit, took_s, failed, found
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=["starts", "in-flight", "followers", "day"], help="none: all of them")
    parser.add_argument("--seconds", type=float, help="of the starts, instead of 600, and the day as much shorter")
    asked = parser.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # each follower takes a descriptor
    share = 1.0 if asked.seconds is None else asked.seconds / 600
    if asked.part in (None, "starts"):
        asyncio.run(starts(600 * share))
    if asked.part in (None, "in-flight"):
        asyncio.run(in_flight())
    if asked.part in (None, "followers"):
        followers()
    if asked.part in (None, "day"):
        day(DAY_S * share)


if __name__ == "__main__":
    main()
