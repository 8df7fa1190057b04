"""Attempts that take more than their host allows: each ends, and its ending says why."""

import random
import subprocess
import sys

import pytest

from surfaces.cli.console import Console, sh, shell_host

_HOARD = "import time; held = bytearray(300_000_000); time.sleep(600)"


@pytest.mark.parametrize(
    ("limits", "script", "reason"),
    [
        ("processes = 5", "for n in 1 2 3 4 5 6 7 8 9; do sleep 600 & done; wait", "limit of 5 processes: it had 10"),
        ("memory_mb = 200", f"{sys.executable} -c '{_HOARD}'", "limit of 200 MB of memory: it used "),
        ('cpu = "500ms"', "while :; do :; done", "limit of 0.5 s of processor time: it took"),
        ('cpu = "500ms"', "setsid env -i sh -c 'while :; do :; done' & sleep 600", "limit of 0.5 s of processor time"),
        ("output_mb = 1.5", "yes; sleep 600", "limit of 1.5 MB of output: it printed"),
        (
            "disk_mb = 3",
            'cd "${MANYHANDS_USAGE_FILE%/*}"; mkdir a; head -c 8000000 /dev/urandom > a/f; sync a/f; sleep 600',
            "limit of 3 MB of disk: it added ",
        ),
    ],
)
def test_an_attempt_that_takes_too_much_ends_with_the_reason(
    console: Console, limits: str, script: str, reason: str
) -> None:
    console.config(f"{shell_host(1, grace='0.2s')}limits = {{ {limits} }}\n")
    console.plan([sh("a", script, attempts=1)])
    assert console.run("run", "plan.jsonl").code == 1
    (attempt,) = console.run("task", "show", "a", "-o", "json").json["attempts"]
    assert attempt["ending"] == "failed"
    assert f"reached its {reason}" in attempt["detail"]


def test_an_attempt_within_its_limits_is_left_alone(console: Console) -> None:
    limits = 'processes = 50, memory_mb = 2000, cpu = "10m", output_mb = 100, disk_mb = 100'
    console.config(f"{shell_host(1)}limits = {{ {limits} }}\n")
    console.plan([sh("a", "sleep 1.2; echo done")])
    assert console.run("run", "plan.jsonl").code == 0


def test_a_worktree_counts_from_what_was_checked_out(console: Console) -> None:
    here = console.directory
    (here / "large").write_bytes(random.Random(1).randbytes(6_000_000))
    for words in (("init", "-q", "-b", "main"), ("add", "large"), ("commit", "-q", "-m", "large")):
        identity = ("-c", "user.name=t", "-c", "user.email=t@example.com")
        subprocess.run(("git", *identity, *words), cwd=here, check=True)
    console.config(f"{shell_host(2, grace='0.2s')}limits = {{ disk_mb = 3 }}\n")
    adds = "head -c 5000000 /dev/urandom > more; sync more; sleep 600"
    fill = sh("fill", adds, attempts=1, workspace="worktree", claims={"write": ["more"]})
    console.plan([fill, sh("fits", "sleep 1.2", workspace="worktree", claims={})])
    assert console.run("run", "plan.jsonl").code == 1
    ended = {task: console.run("task", "show", task, "-o", "json").json["attempts"][0] for task in ("fill", "fits")}
    assert "limit of 3 MB of disk: it added " in ended["fill"]["detail"]
    assert ended["fits"]["ending"] == "done"
