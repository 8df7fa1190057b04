"""A dispatcher that is killed leaves shared processes behind; the next one ends them before it continues."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from manyhands.hosts.executors import process_table

AGENT = Path(__file__).with_name("acp_agent.py")
PATIENCE_S = 120.0


def workplace(tmp_path: Path) -> Path:
    workspace, home = tmp_path / "work", tmp_path / "home"
    workspace.mkdir()
    notes = home / ".cache" / "notes"
    notes.mkdir(parents=True)
    program = json.dumps([sys.executable, str(AGENT), str(notes)])
    (workspace / "manyhands.toml").write_text(
        f'[hosts.agent]\ntype = "agent"\nagent = {{ name = "acp", run = {program} }}\n'
        f'sessions = 4\nwidth = 4\nenv = {{ HOME = "{home}" }}\n'
    )
    # Its tools have a session of their own, as those of some agents do.
    rows = [
        {"id": f"t{n}", "prompt": f"run touch begun-{n}; setsid sleep 1000", "claims": {"write": [f"begun-{n}"]}}
        for n in range(4)
    ]
    (workspace / "plan.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return workspace


def start(workspace: Path) -> "subprocess.Popen[str]":
    argv = [sys.executable, "-m", "manyhands", "run", "plan.jsonl"]
    return subprocess.Popen(argv, cwd=workspace, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def shared_processes(workspace: Path) -> list[int]:
    found = [p.pid for p in process_table.processes() if any(marker.endswith(".shared") for marker in p.markers)]
    return [pid for pid in found if works_in(pid, workspace)]


def works_in(pid: int, workspace: Path) -> bool:
    try:
        return Path(os.readlink(f"/proc/{pid}/cwd")).is_relative_to(workspace)
    except OSError:
        return False


@pytest.mark.slow
def test_a_killed_dispatcher_leaves_no_shared_process_once_the_next_one_is_done(tmp_path: Path) -> None:
    workspace = workplace(tmp_path)
    first = start(workspace)
    give_up_at = time.monotonic() + PATIENCE_S
    while len(list(workspace.glob("begun-*"))) < 4:
        assert time.monotonic() < give_up_at, "the attempts never began"
        assert first.poll() is None, first.communicate()
        time.sleep(0.05)
    for process in psutil.Process(first.pid).children():
        if "/proc/uptime" in " ".join(process.cmdline()):  # the guard, which would end them before the next dispatcher
            process.kill()
    first.send_signal(signal.SIGKILL)
    first.communicate()
    assert shared_processes(workspace), "something must be left to be ended"
    second = start(workspace)  # it resumes the sessions with "continue", which is nothing to do
    said, _ = second.communicate(timeout=PATIENCE_S)
    assert second.returncode == 0, said
    assert shared_processes(workspace) == []
    argv = [sys.executable, "-m", "manyhands", "task", "show", "t0", "-o", "json"]
    shown = json.loads(subprocess.run(argv, cwd=workspace, capture_output=True, text=True, check=True).stdout)
    assert [attempt["ending"] for attempt in shown["attempts"]] == ["lost", "done"]
