"""Seeds one bug at a time into a copy of the package and runs the test that must find it: `make mutants`.

The list is `mutants.toml`. A mutant that no test finds is a hole in the tests, and the command fails. `--record`
appends the counts to `bench/results.jsonl`.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

TESTS = Path(__file__).parent
ROOT = TESTS.parent
LIST = TESTS / "mutants.toml"
#: Longer than any of the tests takes. A mutant that hangs its test counts as found.
WITHIN_S = 600
RECORD = "--record"


class Mutant(NamedTuple):
    name: str
    file: str  # below src/manyhands
    find: str  # a text that the file has once
    put: str  # what stands there instead
    test: str  # must fail with it, and pass without


def read_mutants() -> list[Mutant]:
    return [Mutant(**row) for row in tomllib.loads(LIST.read_text())["mutant"]]


def mutated(mutant: Mutant, source: str) -> str:
    if source.count(mutant.find) != 1:
        raise SystemExit(
            f"mutant `{mutant.name}`: {mutant.file} has its text {source.count(mutant.find)} times, not once"
        )
    return source.replace(mutant.find, mutant.put)


def check_baseline(mutants: Sequence[Mutant]) -> None:
    """Without a mutant every test passes: one that fails anyway would find everything."""
    tests = list(dict.fromkeys(mutant.test for mutant in mutants))
    print(f"{len(tests)} tests without a mutant", flush=True)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"the tests fail without any mutant:\n{done.stdout[-4000:]}")


def is_found(mutant: Mutant) -> bool:
    with tempfile.TemporaryDirectory(prefix="mutant-") as directory:
        package = Path(directory, "manyhands")
        shutil.copytree(ROOT / "src" / "manyhands", package, ignore=shutil.ignore_patterns("__pycache__"))
        file = package / mutant.file
        file.write_text(mutated(mutant, file.read_text()))
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", mutant.test]
        env = {**os.environ, "PYTHONPATH": directory, "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, timeout=WITHIN_S, check=False)
        except subprocess.TimeoutExpired:
            return True
        if done.returncode not in (0, 1):
            raise SystemExit(f"mutant `{mutant.name}`: pytest could not run: {done.stdout.decode()[-2000:]}")
        return done.returncode == 1


def main(names: Sequence[str]) -> int:
    is_recorded, names = RECORD in names, [name for name in names if name != RECORD]
    mutants = [mutant for mutant in read_mutants() if not names or any(name in mutant.name for name in names)]
    check_baseline(mutants)
    survivors = []
    for number, mutant in enumerate(mutants, 1):
        found = is_found(mutant)
        print(f"{number:>3} of {len(mutants)}  {'found' if found else 'SURVIVES'}  {mutant.name}", flush=True)
        if not found:
            survivors.append(mutant)
    print(f"{len(mutants) - len(survivors)} of {len(mutants)} mutants found")
    if is_recorded:
        sys.path.insert(0, str(ROOT / "bench"))
        from record import record

        record("mutants", {"mutants": len(mutants)}, len(mutants) - len(survivors), "found")
    return 1 if survivors else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
