"""Ways for a task to leave a process behind: none of them outlives its attempt, however the attempt ends."""

import contextlib
import os
import signal
import sys
from collections.abc import Iterator

import psutil
import pytest

from surfaces.cli.console import Console, sh, shell_host, wait_until

_FORKS = """
import os, sys
for _ in range({forks}):
    if os.fork():
        os._exit(0)
    os.setsid()
os.chdir("/")
os.closerange(0, 256)
os.execve("/bin/sleep", ["{name}", sys.argv[1]], {{}})
"""
_POPEN = """
import subprocess, sys
null = subprocess.DEVNULL
subprocess.Popen(["sleep", sys.argv[1]], env={}, start_new_session=True, stdin=null, stdout=null, stderr=null, cwd="/")
"""


def _python(script: str) -> str:
    return f"{sys.executable} -c '{script}' $N"


#: $N is how long each sleeps: a number of its own, by which it is found.
WAYS = {
    "in the background": "sleep $N &",
    "nohup": "nohup sleep $N >/dev/null 2>&1 &",
    "nohup without an environment": "env -i nohup sleep $N >/dev/null 2>&1 </dev/null &",
    "a session": "setsid sleep $N &",
    "a session without an environment": "setsid env -i sleep $N &",
    "a forked session without an environment": "setsid -f env -i sleep $N",
    "a subshell": "(sleep $N &)",
    "a subshell's session": "(setsid env -i sleep $N &)",
    "two subshells": "( ( setsid env -i sh -c 'sleep '$N & ) & )",
    "a shell that waits for it": "setsid -f env -i sh -c 'sleep '$N'; :'",
    "a shell that begins again": "setsid -f env -i sh -c 'while :; do sleep '$N'; done'",
    "ignored signals": "setsid -f env -i sh -c 'trap \"\" TERM HUP INT; sleep '$N'; :'",
    "disowned": "bash -c 'sleep '$N' & disown'",
    "disowned without an environment": "env -i bash -c 'setsid sleep '$N' & disown -a'",
    "another name": "setsid -f env -i bash -c 'exec -a kworker sleep '$N",
    "less priority": "env -i nice setsid -f sleep $N",
    "a watcher": "env -i setsid -f timeout 90000 sleep $N",
    "two forks": _python(_FORKS.format(forks=2, name="daemon")),
    "five forks": _python(_FORKS.format(forks=5, name="sleep")),
    "a library": _python(_POPEN),
    "closed files": "setsid -f env -i sleep $N <&- >&- 2>&-",
}
_FIRST = 86_400_000 + os.getpid() % 10_000 * 100


def left_behind() -> list[str]:
    """The processes that sleep for one of our numbers of seconds."""
    ours = {str(_FIRST + number): way for number, way in enumerate(WAYS)}
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            words = process.cmdline()
            if process.status() != psutil.STATUS_ZOMBIE:
                found += [ours[word] for word in words[-1:] if word in ours]
    return found


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    yield
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.cmdline()[-1:] and process.cmdline()[-1] in {str(_FIRST + n) for n in range(len(WAYS))}:
                process.kill()


def tasks(then: str, **fields: object) -> list[dict[str, object]]:
    return [
        sh(f"way-{number}", f"N={_FIRST + number}; {script}\n{then}", claims={}, attempts=1, **fields)
        for number, script in enumerate(WAYS.values())
    ]


def test_no_way_outlives_an_attempt_that_is_done(console: Console) -> None:
    assert len(WAYS) >= 20
    console.config(shell_host(4))
    console.plan(tasks("exit 0"))
    done = console.run("run", "plan.jsonl")
    assert left_behind() == []
    assert done.code == 0, done.err


def test_no_way_outlives_a_time_out(console: Console) -> None:
    console.config(shell_host(8, grace="0.2s"))
    console.plan(tasks("exec sleep 86399", timeout="2s"))
    assert console.run("run", "plan.jsonl").code == 1
    assert left_behind() == []


def test_no_way_outlives_a_crash_of_the_dispatcher(console: Console) -> None:
    console.config(shell_host(len(WAYS)))
    console.plan(tasks("exec sleep 86399"))
    live = console.start("run", "plan.jsonl")
    wait_until(lambda: len(set(left_behind())) == len(WAYS), "all of them to have left something behind")
    os.kill(live.process.pid, signal.SIGKILL)
    live.end()
    wait_until(lambda: left_behind() == [], "the guard to end what the dispatcher cannot")
    assert left_behind() == []


def test_no_way_outlives_the_next_start_if_the_guard_was_killed_too(console: Console) -> None:
    console.config(shell_host(len(WAYS)))
    console.plan(tasks("exec sleep 86399"))
    live = console.start("run", "plan.jsonl")
    wait_until(lambda: len(set(left_behind())) == len(WAYS), "all of them to have left something behind")
    for process in psutil.Process(live.process.pid).children():
        if "/proc/uptime" in " ".join(process.cmdline()):
            process.kill()
    os.kill(live.process.pid, signal.SIGKILL)
    live.end()
    console.plan([sh("another", "exit 0")], "other.jsonl")
    assert len(set(left_behind())) == len(WAYS)
    assert console.run("run", "other.jsonl").code == 0
    assert left_behind() == []
