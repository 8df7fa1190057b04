"""A locked, damaged, read-only or full store, met from the command line: a clear error, exit 75, and nothing lost."""

import contextlib
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from surfaces.cli.console import Console, Done, sh, shell_host

HELD = "echo $$ > pid; while [ ! -e go ]; do sleep 0.02; done"


def assert_try_again(done: Done, *words: str) -> None:
    assert (done.code, done.out) == (75, "")
    assert "Traceback" not in done.err
    error, hint = done.err.splitlines()[-2:]
    assert error.startswith("error: ")
    assert hint.startswith("hint: ")
    for word in words:
        assert word in done.err


def mount(*arguments: str | Path) -> None:
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"cannot mount here: {done.stderr.strip()}")


@contextlib.contextmanager
def read_only(directory: Path) -> Iterator[None]:
    """Permission bits bind everyone but root; a read-only mount binds root too."""
    if os.geteuid() != 0:
        directory.chmod(0o500)
        try:
            yield
        finally:
            directory.chmod(0o700)
        return
    mount("--bind", directory, directory)
    try:
        mount("-o", "remount,ro,bind", directory)
        yield
    finally:
        subprocess.run(["umount", "--lazy", directory], check=True)


def test_a_second_dispatcher_is_turned_away_and_the_first_goes_on(console: Console) -> None:
    console.config(shell_host(1))
    console.plan([sh("a", HELD)])
    live = console.start("run", "plan.jsonl")
    live.wait_until((console.directory / "pid").exists, "the task at work")
    console.plan([sh("b", "exit 0")], "other.jsonl")
    turned_away = console.run("run", "other.jsonl")
    assert_try_again(
        turned_away, f"in use by process {live.process.pid}", "one dispatcher works on a journal at a time"
    )
    assert console.run("demo", "--mix", "--scale", "0.001").code == 75
    assert console.run("runs", "-o", "ids").ids == ["plan-1"], "looking is always possible"
    (console.directory / "go").touch()
    assert live.end().code == 0


def test_a_damaged_journal_is_named_and_never_written_to(console: Console) -> None:
    console.config(shell_host(1))
    console.plan([sh(f"task-number-{n}", "exit 0") for n in range(3)])
    assert console.run("run", "plan.jsonl").code == 0
    file = console.store / "journal.db"
    whole = bytearray(file.read_bytes())
    whole[whole.index(b"task-number-1")] ^= 0x20
    file.write_bytes(whole)
    for command in (("run", "plan.jsonl"), ("task",), ("runs",)):
        assert_try_again(console.run(*command), f"`{file}` is damaged at", "checksum", "restore it from a copy")
    assert file.read_bytes() == whole


def test_a_read_only_store_can_be_looked_at_and_nothing_else(console: Console) -> None:
    console.config(shell_host(1))
    console.plan([sh("a", "exit 0"), sh("b", "exit 3", attempts=1)])
    assert console.run("run", "plan.jsonl").code == 1
    with read_only(console.store):
        assert_try_again(console.run("run", "plan.jsonl"), str(console.store), "writable")
        assert_try_again(console.run("task", "retry", "b"), str(console.store), "writable")
        assert [task["state"] for task in console.run("task", "-o", "json").json] == ["failed", "done"]
    assert console.run("task", "retry", "b").code == 0


def test_a_directory_in_which_no_store_can_be_made_is_named(console: Console) -> None:
    console.plan([sh("a", "touch ran")])
    console.write("in-the-way", "")
    assert_try_again(console.run("run", "plan.jsonl", "--store", "in-the-way"), "`", "in-the-way", "write to")
    assert not (console.directory / "ran").exists()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("needs root to mount a small disk; the file-size limit is tested without")
    disk = tmp_path / "disk"
    disk.mkdir()
    mount("-t", "tmpfs", "-o", "size=3m", "none", disk)
    yield disk
    subprocess.run(["umount", "--lazy", disk], check=True)


def fill(disk: Path) -> None:
    with (disk / "ballast").open("wb", buffering=0) as ballast, contextlib.suppress(OSError):
        while True:
            ballast.write(b"." * 4096)


def test_a_disk_that_fills_up_in_mid_run_stops_it_and_with_space_it_goes_on(console: Console, small_disk: Path) -> None:
    """Each task puts down its own mark elsewhere; one of them holds out until the end."""
    console.config(shell_host(4) + f"[store]\ndir = {json.dumps(str(small_disk / 'store'))}\n")
    (console.directory / "marks").mkdir()
    mark = "touch marks/$MANYHANDS_TASK"
    console.plan([sh("held", f"{HELD}; {mark}"), *(sh(f"t{n}", f"{mark}; sleep 0.02") for n in range(3000))])
    live = console.start("run", "plan.jsonl")
    live.wait_until(lambda: len(os.listdir(console.directory / "marks")) > 20, "some to be done")
    pid = int((console.directory / "pid").read_text())
    fill(small_disk)
    done = live.end()
    assert_try_again(done, "the disk is full", "free some space and run the same command again")
    assert not psutil.pid_exists(pid), "what ran was stopped"
    listed = console.run("task", "--state", "done", "--limit", "9999", "-o", "ids")
    assert 0 < len(listed.ids) < 3000
    assert set(listed.ids) <= set(os.listdir(console.directory / "marks"))

    (small_disk / "ballast").unlink()
    live = console.start("run", "plan.jsonl")
    live.wait_for("run plan-1 continues")
    live.process.terminate()
    again = live.end()
    assert again.code == 75
    after = console.run("task", "--state", "done", "--limit", "9999", "-o", "ids")
    assert set(listed.ids) <= set(after.ids), "what was acknowledged is still there"


def test_a_limit_on_the_size_of_files_stops_a_run_in_the_same_way(console: Console) -> None:
    console.config(shell_host(4))
    console.plan(sh(f"t{n}", "exit 0", title="x" * 2000) for n in range(40))
    assert console.run("run", "plan.jsonl").code == 0
    size = max(file.stat().st_size for file in console.store.iterdir())
    script = (
        "import resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({size + 20_000},) * 2)\n"
        "sys.argv = ['manyhands', 'run', 'plan.jsonl', '--again']\n"
        "from manyhands.surfaces.cli.main import main\n"
        "main()\n"
    )
    assert_try_again(console.python(script), "journal.db`")
    assert console.run("task", "--run", "plan-1", "--state", "done", "-o", "ids").ids == [f"t{n}" for n in range(40)]
    assert console.run("run", "plan.jsonl").code == 0
