"""The guard ends everything that belongs to an attempt, also what the attempt starts while it is being killed."""

import subprocess
import time

from manyhands.hosts.executors import process_table
from manyhands.hosts.executors.attempt_guard import kill_all

JOURNAL = "guard-test"
FORKS_LATER = "echo ready; read line; setsid env -i sleep 86398 & echo forked; exec sleep 86397"


def test_what_an_attempt_forks_after_its_dispatcher_died_is_killed_with_it() -> None:
    marker = f"{JOURNAL}.7"
    attempt = subprocess.Popen(["sh", "-c", FORKS_LATER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert attempt.stdin is not None
    assert attempt.stdout is not None
    process_table.set_tag(attempt.pid, marker)
    assert attempt.stdout.readline() == "ready\n"
    died_at = time.clock_gettime(time.CLOCK_BOOTTIME)
    while time.clock_gettime(time.CLOCK_BOOTTIME) < died_at + 0.05:  # births are told in hundredths of a second
        pass
    attempt.stdin.write("\n")
    attempt.stdin.flush()
    assert attempt.stdout.readline() == "forked\n"
    tagged = [p for p in process_table.processes() if p.tag == process_table.tag_of(marker)]
    assert any(p.born_at > died_at for p in tagged)
    kill_all(JOURNAL, before=died_at)
    attempt.wait()
    assert [p for p in process_table.processes() if p.tag == process_table.tag_of(marker)] == []
