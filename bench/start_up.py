"""What does a command cost that answers at once: `--help`, `--version`, and `task` with 20 tasks in the journal?

Time is that of the processor, of the child and the kernel for it. The commands take turns with a bare interpreter, so
that what slows one down slows all of them down, and the least of the rounds counts. The bytecode is cached. The target:
`task` in <= 150 ms on a machine whose bare interpreter takes 13 ms, which is 11.5 bare starts.

`python bench/start_up.py DIRECTORY` measures another checkout in the same turns, to compare with.
"""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from record import record

QUESTION = "start_up"
ROUNDS = 15
TASKS = 20
HERE = Path(__file__).parents[1]
PLAN = "".join(f'{{"id": "t{n}", "kind": "shell", "claims": {{}}, "run": ["true"]}}\n' for n in range(TASKS))
CONFIG = '[hosts.local]\ntype = "shell"\nwidth = 4\n'
COMMANDS = {
    "bare": ["-c", "pass"],
    "--version": ["-m", "manyhands", "--version"],
    "--help": ["-m", "manyhands", "--help"],
    "task": ["-m", "manyhands", "task"],
}


def environment(checkout: Path, cache: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPATH": str(checkout / "src"), "PYTHONPYCACHEPREFIX": str(cache)}


def cpu_s(arguments: list[str], env: dict[str, str], directory: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], env=env, cwd=directory, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(checkouts: list[Path], directory: Path) -> dict[tuple[Path, str], float]:
    """The least of all rounds; the first round fills the caches."""
    (directory / "manyhands.toml").write_text(CONFIG)
    (directory / "plan.jsonl").write_text(PLAN)
    env = {checkout: environment(checkout, directory / f"cache-{n}") for n, checkout in enumerate(checkouts)}
    subprocess.run(
        [sys.executable, "-m", "manyhands", "run", "plan.jsonl"],
        env=env[checkouts[-1]],  # the older one: its journal can be read by both
        cwd=directory,
        capture_output=True,
        check=True,
    )
    least: dict[tuple[Path, str], float] = {}
    for turn in range(ROUNDS + 1):
        for name, arguments in COMMANDS.items():
            for checkout in checkouts:
                took_s = cpu_s(arguments, env[checkout], directory)
                if turn:
                    least[checkout, name] = min(took_s, least.get((checkout, name), took_s))
    return least


def main() -> None:
    checkouts = [HERE, *(Path(argument).resolve() for argument in sys.argv[1:])]
    with tempfile.TemporaryDirectory() as directory:
        least = measure(checkouts, Path(directory))
    print(f"{'command':<12} {'CPU':>8} {'bare starts':>12}  checkout")
    for (checkout, name), took_s in least.items():
        bare_starts = took_s / least[checkout, "bare"]
        print(f"{name:<12} {1000 * took_s:>5.0f} ms {bare_starts:>12.1f}  {checkout}")
        if checkout == HERE:
            record(QUESTION, {"command": name, "tasks": TASKS, "rounds": ROUNDS}, 1000 * took_s, "ms of CPU time")
            if name != "bare":
                record(QUESTION, {"command": name, "tasks": TASKS, "rounds": ROUNDS}, bare_starts, "bare starts")


if __name__ == "__main__":
    main()
