"""The lock that keeps a second dispatcher out, and the socket by which others wake the first."""

import os
import select
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from manyhands.core.events import RunDrained, Woke
from manyhands.engine.store.sqlite import sqlite_store
from manyhands.errors import StoreBusy

HOLDER = """
import sys, time
from pathlib import Path
from manyhands.engine.store.sqlite import sqlite_store
journal = sqlite_store.open_journal(Path(sys.argv[1]))
print("holding", flush=True)
{then}
"""


def hold(directory: Path, then: str = "time.sleep(60)") -> subprocess.Popen[str]:
    command = [sys.executable, "-c", HOLDER.format(then=then), str(directory)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "holding\n"
    return child


def test_a_second_dispatcher_is_told_which_process_holds_the_journal(tmp_path: Path) -> None:
    child = hold(tmp_path)
    try:
        with pytest.raises(StoreBusy, match=f"in use by process {child.pid}$") as busy:
            sqlite_store.open_journal(tmp_path)
        assert busy.value.exit_code == 75
        assert "wait for it" in busy.value.hint
    finally:
        child.kill()
        child.communicate()


def test_the_journal_is_free_again_once_its_holder_was_killed(tmp_path: Path) -> None:
    child = hold(tmp_path)
    child.kill()
    child.communicate()
    with closing(sqlite_store.open_journal(tmp_path)) as journal:
        assert journal.append([Woke(at=1.0)]) == 1


def test_a_forked_worker_that_outlives_its_dispatcher_does_not_keep_the_next_one_out(tmp_path: Path) -> None:
    child = hold(tmp_path, then="import os\nif not os.fork(): print(os.getpid(), flush=True)\ntime.sleep(60)")
    assert child.stdout is not None
    worker = int(child.stdout.readline())
    try:
        child.kill()
        child.wait()
        os.kill(worker, 0)  # it is alive
        sqlite_store.open_journal(tmp_path).close()
    finally:
        os.kill(worker, signal.SIGKILL)
        child.communicate()


def test_a_failed_opening_lets_go_of_the_lock(tmp_path: Path) -> None:
    (tmp_path / "journal.db").write_bytes(b"not a database, but long enough to be looked at" * 100)
    for _ in range(2):
        with pytest.raises(Exception, match="is not a manyhands journal"):
            sqlite_store.open_journal(tmp_path)
    (tmp_path / "journal.db").unlink()
    sqlite_store.open_journal(tmp_path).close()


def deep(tmp_path: Path) -> Path:
    """A directory whose path is longer than a socket's may be."""
    return tmp_path.joinpath(*["a-directory-with-a-long-name"] * 5)


@pytest.mark.parametrize("place", [lambda path: path, deep])
def test_a_request_from_another_process_wakes_the_dispatcher_wherever_its_directory_is(tmp_path, place) -> None:
    directory = place(tmp_path)
    asking = (
        "import sys\nfrom pathlib import Path\nfrom manyhands.core.events import RunDrained\n"
        "from manyhands.engine.store.sqlite import sqlite_store\n"
        "sqlite_store.open_requests(Path(sys.argv[1])).ask(RunDrained(at=0.0, run='r'))"
    )
    # Killed, so that the next one finds its leavings.
    child = hold(directory)
    child.kill()
    child.communicate()
    left = (directory / "wake").resolve()
    with closing(sqlite_store.open_journal(directory)) as journal:
        subprocess.run([sys.executable, "-c", asking, str(directory)], check=True)
        assert select.select([journal.wake_fileno()], [], [], 5)[0]
        assert [event for _, event in journal.requests()] == [RunDrained(at=0.0, run="r")]
        ours = (directory / "wake").resolve()
    assert not os.path.lexists(directory / "wake")
    for socket_path in {left, ours}:
        assert not socket_path.exists()
        assert directory in socket_path.parents or not socket_path.parent.exists()
