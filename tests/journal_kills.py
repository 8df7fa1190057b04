"""Places kills by what the journal holds, never by seconds: a busy machine only makes the wait longer.

Tasks of later lives wait behind a gate: the work never runs out before a kill, however late that comes.
"""

import subprocess
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

from manyhands.engine.store.store_opening import Where, exists, open_reader
from manyhands.errors import Unavailable, UsageError

#: Longer than anything takes on a loaded machine: a hang fails instead of hanging.
PATIENCE_S = 180.0
LOOK_EVERY_S = 0.003


def last_event(where: Where, known: int = 0) -> int:
    """The number of the journal's last event; `known` is one that it had before."""
    with suppress(UsageError, Unavailable):  # it is being made, or its server restarts
        if exists(where):
            with closing(open_reader(where)) as reader:
                return max((number for number, _ in reader.read(known)), default=known)
    return known


def wait_for_event(
    process: "subprocess.Popen[bytes]", where: Where, number: int, unless: Callable[[], bool] = lambda: False
) -> bool:
    """Wait until the journal has that event. False: the process ended, or `unless` held, before that."""
    deadline = time.monotonic() + PATIENCE_S
    last = 0
    while (last := last_event(where, last)) < number:
        if process.poll() is not None or unless():
            return False
        assert time.monotonic() < deadline, f"the journal has {last} events, and {number} were waited for"
        time.sleep(LOOK_EVERY_S)
    return True


def gate(directory: Path, life: int) -> str:
    """A line of shell that waits until `open_gate` of that life was called."""
    return f'while [ ! -e "{_gate(directory, life)}" ]; do sleep 0.01; done'


def open_gate(directory: Path, life: int) -> None:
    _gate(directory, life).touch()


def _gate(directory: Path, life: int) -> Path:
    return directory / f"gate-{life}"
