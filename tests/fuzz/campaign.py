"""A fuzzing campaign, or one input again: `.venv/bin/python tests/fuzz/campaign.py [READER …] [--input FILE]`.

A campaign takes the readers in turn and tries as many inputs on each as fit into `--seconds` of processor time. With
`--record` it appends what it reached to `bench/results.jsonl`. It stops nowhere: each failure is told with its command.
"""

import argparse
import faulthandler
import logging
import sys
import tempfile
import time
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS), str(TESTS.parent / "bench")]

from fuzz.fuzzing import fuzzed, why_bad  # noqa: E402
from fuzz.readers import READERS  # noqa: E402

HANGS_S = 300.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("readers", nargs="*", metavar="READER", help=f"some of: {', '.join(READERS)}; none: all")
    parser.add_argument("--input", type=Path, help="an input to try again")
    parser.add_argument("--seconds", type=float, default=20.0, help="of processor time, for each reader")
    parser.add_argument("--seed", default=str(time.time_ns()), help="the same seed tries the same inputs")
    parser.add_argument("--record", action="store_true", help="append what it reached to bench/results.jsonl")
    asked = parser.parse_args()
    # An endless loop of a library cannot be interrupted: it ends the process, and this says where it was.
    faulthandler.enable()
    faulthandler.dump_traceback_later(HANGS_S, exit=True)
    logging.disable(logging.CRITICAL)
    names = asked.readers or list(READERS)
    with tempfile.TemporaryDirectory(prefix="fuzz-") as made:
        if asked.input is not None:
            why = why_bad(READERS[names[0]], Path(made), asked.input.read_bytes())
            print(why or f"{names[0]} takes it, or refuses it with an error of its own")
            return 1 if why else 0
        return _campaign(names, Path(made), asked)


def _campaign(names: list[str], directory: Path, asked: argparse.Namespace) -> int:
    failed = 0
    kept = Path(tempfile.mkdtemp(prefix="fuzz-failures-"))
    print(f"seed {asked.seed}", flush=True)
    for name in names:
        faulthandler.dump_traceback_later(asked.seconds * 20 + HANGS_S, exit=True)
        done = fuzzed(name, READERS[name], directory, asked.seed, cpu_s=asked.seconds)
        print(f"{name:18} {done.inputs:>9,} inputs  {done.lines:>6,} lines reached  {done.cpu_s:>5.1f} s", flush=True)
        if done.failure is not None:
            failed += 1
            print(done.failure.told(kept), flush=True)
        if asked.record:
            from record import record

            params = {"reader": name, "seed": asked.seed, "failures": int(done.failure is not None)}
            record("fuzz", params, done.inputs, "inputs")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
