"""Requests from several processes to a dispatcher that is busy appending."""

import select
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from manyhands.core.events import RunDrained, Woke
from manyhands.engine.store.sqlite import sqlite_store

ASKER = """
import sys
from pathlib import Path
from manyhands.core.events import RunDrained
from manyhands.engine.store.sqlite import sqlite_store
directory, name, count = sys.argv[1:]
requests = sqlite_store.open_requests(Path(directory), "crash")
for number in range(int(count)):
    requests.ask(RunDrained(at=float(number), run=name))
"""


def test_two_processes_ask_a_thousand_times_each_while_the_journal_is_written(tmp_path: Path) -> None:
    with closing(sqlite_store.open_journal(tmp_path, "crash")) as journal:
        askers = [subprocess.Popen([sys.executable, "-c", ASKER, str(tmp_path), name, "1000"]) for name in ("a", "b")]
        seen: dict[str, list[float]] = {"a": [], "b": []}
        while True:
            over = all(asker.poll() is not None for asker in askers)
            select.select([journal.wake_fileno()], [], [], 0.001)
            journal.clear_wake()
            waiting = journal.requests()
            for _, event in waiting:
                assert isinstance(event, RunDrained)
                assert event.at == len(seen[event.run])
                seen[event.run].append(event.at)
            journal.append([Woke(at=0.0)] * 50, answered=[id for id, _ in waiting])
            if over and not waiting:
                break
        assert [asker.returncode for asker in askers] == [0, 0]
        assert seen == {"a": [float(n) for n in range(1000)], "b": [float(n) for n in range(1000)]}
