"""The tests of executors, with processes read as on a system without /proc and pidfds."""

import os
import re
import subprocess
import sys
from pathlib import Path

from manyhands.hosts.executors.process_source import WITHOUT_PROC

HERE = Path(__file__).parent
CHOSEN = (HERE / "test_executor_contract.py", HERE / "test_process.py")


def test_executors_keep_their_promises_without_proc() -> None:
    which = "(shell or python-sync or test_process) and not layered"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *map(str, CHOSEN), "-k", which]
    environment = {**os.environ, WITHOUT_PROC: "1"}
    done = subprocess.run(command, env=environment, cwd=HERE.parents[2], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:]
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None
    assert int(passed[1]) >= 50, done.stdout[-300:]
