"""Several processes write one backlog, and some of them die doing it: nothing acknowledged is lost, nothing is torn.

Writers are real processes. Each says on a pipe what it has been told is safe; the file is held to it afterwards.
"""

import os
import random
import select
import subprocess
import sys
import time
from collections import Counter

import pytest

from manyhands.sources.beads.beads_finding import find
from manyhands.sources.beads.beads_loading import load
from manyhands.sources.beads.beads_reading import parse
from sources.beads.backlog_files import project, row

SOAK = bool(os.environ.get("MANYHANDS_SOAK"))
UPDATES = 1000 if SOAK else 200
KILLS = 100 if SOAK else 15
WRITERS = 4

WRITER = """
import os, sys
from pathlib import Path
from manyhands.sources.beads.issue_changes import Claim, Close
from manyhands.sources.beads.beads_finding import find
from manyhands.sources.beads.beads_writing import BeadsFile

directory, me, first, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
writer = BeadsFile(find(Path(directory)))
for n in range(first, first + count):
    own = f"{me}-{n}"
    _, closed, shared = writer.apply([Claim(own, me), Close(own, me, "did it"), Claim(f"shared-{n}", me)])
    said = [own] * closed.holds + [f"shared-{n}"] * (shared.result == "written")
    os.write(1, (" ".join(said) + "\\n").encode())
"""


def start_writer(directory, me, first=0, count=UPDATES):
    command = [sys.executable, "-c", WRITER, str(directory), me, str(first), str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, bufsize=0)


@pytest.mark.slow
def test_four_processes_lose_no_update_and_no_reader_sees_a_torn_file(tmp_path):
    names = [f"w{n}" for n in range(WRITERS)]
    rows = [row(f"{name}-{n}") for n in range(UPDATES) for name in (*names, "shared")]
    file = project(tmp_path, *rows) / ".beads" / "issues.jsonl"
    place = find(tmp_path)
    writers = {name: start_writer(tmp_path, name) for name in names}
    reads = 0
    while any(writer.poll() is None for writer in writers.values()):
        # Under the lock as Beads reads, and without it as everyone else does.
        for beads in (load(place), parse(file.read_bytes(), "")):
            assert len(beads.issues) == len(rows)
            assert beads.problems == []
            reads += 1
        select.select([], [], [], 0.05)
    said = {name: writer.communicate()[0].decode().split() for name, writer in writers.items()}
    assert [writer.returncode for writer in writers.values()] == [0] * WRITERS
    assert reads > 10
    final = load(place).issues
    for name in names:
        assert [f"{name}-{n}" for n in range(UPDATES)] == [id for id in said[name] if id.startswith(name)]
        assert all(final[f"{name}-{n}"].status == "closed" for n in range(UPDATES))
    winner_of = [(id, name) for name in names for id in said[name] if id.startswith("shared")]
    assert Counter(id for id, _ in winner_of) == dict.fromkeys((f"shared-{n}" for n in range(UPDATES)), 1)
    assert all(final[id].assignee == name for id, name in winner_of)


def read_lines(writer, count):
    """What the writer has said, once it has said so many lines; all of it if it is dead."""
    said = b""
    while said.count(b"\n") < count:
        part = os.read(writer.stdout.fileno(), 65536)
        if not part:
            break
        said += part
    return said


def killed_in_writing(seen):
    """Files seen after one kill and still there after the next: not one that the other writer was just making."""
    return sum(count > 1 for count in seen.values())


@pytest.mark.slow
def test_a_writer_killed_at_any_instant_leaves_a_whole_file_and_the_others_go_on(tmp_path):
    rng = random.Random(20260)
    updates = 40 * KILLS
    rows = [row(f"{name}-{n}", description="x" * 400) for n in range(updates) for name in ("w0", "w1", "shared")]
    file = project(tmp_path, *rows) / ".beads" / "issues.jsonl"
    place = find(tmp_path)
    survivor = start_writer(tmp_path, "w1", 0, updates)
    acknowledged = []
    half_written = Counter()
    first = 0
    try:
        kill = 0
        while kill < KILLS or (kill < 3 * KILLS and not killed_in_writing(half_written)):
            kill += 1
            victim = start_writer(tmp_path, "w0", first, updates - first)
            said = read_lines(victim, 1)
            first_at = time.monotonic()
            said += read_lines(victim, 1)
            # Anywhere in the next update or the one after: waiting, writing, or just done.
            select.select([], [], [], rng.uniform(0, 2 * (time.monotonic() - first_at)))
            victim.kill()
            said += read_lines(victim, 1_000_000)
            victim.wait()
            victim.stdout.close()
            acknowledged += said.decode().rpartition("\n")[0].split()
            first += said.count(b"\n")
            beads = load(place)
            assert len(beads.issues) == len(rows)
            assert beads.problems == []
            for id in acknowledged:
                assert beads.issues[id].assignee == "w0", f"{id} is lost after kill {kill}"
            assert select.select([survivor.stdout], [], [], 30)[0], "the other writer is stuck"
            said_by_other = read_lines(survivor, 1).decode().split()
            beads = load(place)
            assert {beads.issues[id].assignee for id in said_by_other} <= {"w1"}
            half_written.update(name for name in os.listdir(file.parent) if name.startswith(".~"))
    finally:
        survivor.kill()
        survivor.wait()
        survivor.stdout.close()
    assert len(acknowledged) >= 2 * KILLS
    print(f"{killed_in_writing(half_written)} of {kill} killed in the middle of writing")
    # On a fast disk a write is over so soon that only the long campaign is sure to hit one.
    assert killed_in_writing(half_written) or KILLS < 100, "no writer was killed in the middle of writing"


def test_a_lock_held_by_a_dead_writer_or_a_forked_child_of_it_holds_nobody_up(tmp_path):
    project(tmp_path, row("a-0"), row("shared-0"))
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import os, sys, time\n"
            "from pathlib import Path\n"
            "from manyhands.sources.beads.locking import exclusive\n"
            "with exclusive(Path(sys.argv[1])):\n"
            "    if os.fork() == 0:\n"
            "        os.read(0, 1)\n"
            "        os._exit(0)\n"
            "print('let go', flush=True)\n"
            "os.read(0, 1)\n",
            str(tmp_path / ".beads" / ".jsonl.lock"),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert holder.stdout.readline() == b"let go\n"
        writer = start_writer(tmp_path, "a", 0, 1)
        assert writer.communicate(timeout=20)[0] == b"a-0 shared-0\n"
    finally:
        holder.communicate(b"xx")
