"""How close to ideal does an eval use its concurrency?

2 arms × 5 cases × 5 replications of agents that take 0.2 s. Ideal is sessions × 0.2 s / N; the makespan is from the
first start to the last end. The goal: at most 1.1 × ideal at N = 10. Agents are functions, which cost nothing
themselves, and processes; beside these `manyhands run` with the same 50 commands, since starting processes takes time.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import msgspec
from record import record

from manyhands.evals.model import EvalRecord

QUESTION = "evals"
AGENT_S = 0.2
SESSIONS = 50
GOES = 5
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


def measure(what: str, n: int, makespan_s: Callable[[Path], float]) -> None:
    ratios = []
    for _ in range(GOES):
        with tempfile.TemporaryDirectory() as directory:
            ratios.append(makespan_s(Path(directory)) * n / (SESSIONS * AGENT_S))
    ratios.sort()
    print(f"{what:<22} N = {n:>2}  median {ratios[GOES // 2]:.3f} × ideal, {ratios[0]:.3f} … {ratios[-1]:.3f}")
    params = {"what": what, "n": n, "goes": GOES, "agent_s": AGENT_S, "sessions": SESSIONS}
    record(QUESTION, {**params, "best": round(ratios[0], 3)}, ratios[GOES // 2], "makespan ÷ ideal")


def main() -> None:
    for n in (1, 10):
        measure("eval of functions", n, lambda directory, n=n: of_eval("functions", n, directory))
        measure("eval of processes", n, lambda directory, n=n: of_eval("processes", n, directory))
        measure("run of processes", n, lambda directory, n=n: of_run(n, directory))


if __name__ == "__main__":
    main()
