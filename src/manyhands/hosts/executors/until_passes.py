"""Repeats a command until it passes, at most for the given seconds: `python -m … 600 ssh web-1 true`.

It is a separate program so that a wait is an attempt like any other: visible, with cancelling and time-outs.
"""

import subprocess
import sys
import time

EVERY_FIRST_S = 0.2
EVERY_LONGEST_S = 5.0


def main(within_s: float, argv: list[str]) -> int:
    deadline = time.monotonic() + within_s
    every_s = EVERY_FIRST_S
    tries = 0
    while True:
        tries += 1
        left_s = deadline - time.monotonic()
        try:
            said = subprocess.run(argv, capture_output=True, text=True, errors="replace", timeout=max(left_s, 0.1))
            code, text = said.returncode, (said.stdout + said.stderr).strip()
        except subprocess.TimeoutExpired:
            code, text = 124, "no answer"
        except OSError as error:
            print(f"cannot run {argv[0]}: {error.strerror}", flush=True)
            return 127
        if code == 0:
            print(f"passed on try {tries}", flush=True)
            return 0
        if tries == 1 or time.monotonic() + every_s >= deadline:
            print(f"try {tries}: exit code {code} {text[-500:]}".rstrip(), flush=True)
        if time.monotonic() + every_s >= deadline:
            print(f"did not pass within {within_s:g} s", flush=True)
            return 1
        time.sleep(every_s)
        every_s = min(EVERY_LONGEST_S, every_s * 1.5)


if __name__ == "__main__":
    raise SystemExit(main(float(sys.argv[1]), sys.argv[2:]))
