"""What does a command cost that answers at once: `--help`, `--version`, and `task` with 20 tasks in the journal?

Time is that of the processor, of the child and the kernel for it. The commands take turns with a bare interpreter, so
that what slows one down slows all of them down, and the least of the rounds counts. The bytecode is cached. The target:
`task` in <= 150 ms on a machine whose bare interpreter takes 13 ms, which is 11.5 bare starts.

`python bench/start_up.py DIRECTORY` measures another checkout in the same turns, to compare with. It is installed with
its own dependencies, in an environment of its own: an older one may need a library that is not needed any more.
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


def interpreter(checkout: Path, directory: Path) -> Path:
    """The Python that has what this checkout depends on."""
    if checkout == HERE:
        return Path(sys.executable)
    python = directory / "venv" / "bin" / "python"
    subprocess.run(["uv", "venv", "-q", "--python", sys.executable, str(directory / "venv")], check=True)
    subprocess.run(["uv", "pip", "install", "-q", "--python", str(python), str(checkout)], check=True)
    return python


class Checkout:
    """One version of the program: its Python, and a directory in which it has run a plan."""

    def __init__(self, source: Path, directory: Path) -> None:
        self.python = interpreter(source, directory)
        self.env = environment(source, directory / "cache")
        self.work = directory / "work"
        self.work.mkdir(parents=True)
        (self.work / "manyhands.toml").write_text(CONFIG)
        (self.work / "plan.jsonl").write_text(PLAN)
        run = [str(self.python), "-m", "manyhands", "run", "plan.jsonl"]
        subprocess.run(run, env=self.env, cwd=self.work, capture_output=True, check=True)

    def cpu_s(self, arguments: list[str]) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [str(self.python), *arguments]
        subprocess.run(command, env=self.env, cwd=self.work, stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(sources: list[Path], directory: Path) -> dict[tuple[Path, str], float]:
    """The least of all rounds; the first round fills the caches."""
    checkouts = {source: Checkout(source, directory / str(n)) for n, source in enumerate(sources)}
    least: dict[tuple[Path, str], float] = {}
    for turn in range(ROUNDS + 1):
        for name, arguments in COMMANDS.items():
            for source, checkout in checkouts.items():
                took_s = checkout.cpu_s(arguments)
                if turn:
                    least[source, name] = min(took_s, least.get((source, name), took_s))
    return least


def main() -> None:
    sources = [HERE, *(Path(argument).resolve() for argument in sys.argv[1:])]
    with tempfile.TemporaryDirectory() as directory:
        least = measure(sources, Path(directory))
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
