"""How close to ideal does an eval use its concurrency?

2 arms × 5 cases × 5 replications of agents that take 0.2 s. Ideal is sessions × 0.2 s / N; the makespan is from the
first start to the last end. The goal: at most 1.1 × ideal at N = 10. Agents are functions, which cost nothing
themselves, and processes. Beside these, in turn with them, what the machine itself takes at that moment: the same
sleeps started by nothing but asyncio, and by `manyhands run`. What is above these two is the eval's own.
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import msgspec
from record import record

from manyhands.apps.evals.spec.eval_types import EvalRecord

QUESTION = "evals"
AGENT_S = 0.2
SESSIONS = 50
GOES = {10: 9, 1: 2}  # at one at a time there is little to see, and it takes ten times as long
SPEC = """
[eval]
name = "bench"
replications = 5
[[arm]]
name = "a"
{agent}
[[arm]]
name = "b"
{agent}
[[scorer]]
name = "done"
type = "done"
"""
CASES = "".join(f'[[case]]\nname = "c{n}"\nprompt = "do {n}"\n' for n in range(5))
FUNCTION = "import asyncio\n\nasync def nap():\n    await asyncio.sleep(0.2)\n"
AGENTS = {"functions": 'call = "naps:nap"', "processes": 'run = ["sleep", "0.2"]'}


def typed(directory: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "manyhands", *arguments]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def of_eval(agents: str, n: int, directory: Path) -> float:
    (directory / "naps.py").write_text(FUNCTION)
    (directory / "spec.toml").write_text(SPEC.replace("{agent}", AGENTS[agents]) + CASES)
    typed(directory, "eval", "spec.toml", "--concurrency", str(n), "-o", "json")
    kept = directory / ".manyhands" / "evals" / "bench-1" / "record.json"
    found = msgspec.json.decode(kept.read_bytes(), type=EvalRecord)
    assert len(found.order) == SESSIONS
    return max(outcome.ended_at or 0.0 for outcome in found.outcomes) - found.order[0].at


def of_run(n: int, directory: Path) -> float:
    tasks = [{"id": f"t{k}", "run": ["sleep", "0.2"], "claims": {}} for k in range(SESSIONS)]
    (directory / "plan.jsonl").write_text("".join(json.dumps(task) + "\n" for task in tasks))
    return float(json.loads(typed(directory, "run", "plan.jsonl", "--concurrency", str(n), "-o", "json"))["makespan_s"])


def of_asyncio(n: int, directory: Path) -> float:
    async def go() -> float:
        places = asyncio.Semaphore(n)

        async def nap() -> None:
            async with places:
                await (await asyncio.create_subprocess_exec("sleep", str(AGENT_S), cwd=directory)).wait()

        begun_at = time.perf_counter()
        await asyncio.gather(*(nap() for _ in range(SESSIONS)))
        return time.perf_counter() - begun_at

    return asyncio.run(go())


BARE = "asyncio, processes"
MEASURED: dict[str, Callable[[int, Path], float]] = {
    BARE: of_asyncio,
    "run of processes": of_run,
    "eval of processes": lambda n, directory: of_eval("processes", n, directory),
    "eval of functions": lambda n, directory: of_eval("functions", n, directory),
}


def measure(n: int, goes: int) -> None:
    """One of each in turn: a busy minute is a busy minute for all of them."""
    ratios: dict[str, list[float]] = {what: [] for what in MEASURED}
    # Removed at the end only: ext4 is slow at making files for minutes after many were removed.
    with tempfile.TemporaryDirectory() as directory:
        for go in range(goes):
            for what, makespan_s in MEASURED.items():
                place = Path(directory, str(go), what)
                place.mkdir(parents=True)
                ratios[what].append(makespan_s(n, place) * n / (SESSIONS * AGENT_S))
    load = round(os.getloadavg()[0], 1)
    for what, found in ratios.items():
        value = statistics.median(found)
        print(f"{what:<20} N = {n:>2}  median {value:.3f} × ideal, {min(found):.3f} … {max(found):.3f}")
        params = {"what": what, "n": n, "goes": goes, "agent_s": AGENT_S, "sessions": SESSIONS, "load": load}
        record(QUESTION, {**params, "best": round(min(found), 3)}, value, "makespan ÷ ideal")
    over = [eval_s / bare_s for eval_s, bare_s in zip(ratios["eval of processes"], ratios[BARE], strict=True)]
    print(f"eval ÷ asyncio, both of processes: median {statistics.median(over):.3f}; load {load}")


def main() -> None:
    for n, goes in GOES.items():
        measure(n, goes)


if __name__ == "__main__":
    main()
