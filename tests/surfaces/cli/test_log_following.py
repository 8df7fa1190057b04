"""`manyhands task log -f` against a run that is under way."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

PATIENCE_S = 120.0


def start(directory: Path, *words: str) -> "subprocess.Popen[str]":
    argv = [sys.executable, "-m", "manyhands", *words]
    return subprocess.Popen(argv, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_the_log_is_followed_until_the_attempt_has_ended(tmp_path: Path) -> None:
    script = "echo one; while [ ! -e go ]; do sleep 0.05; done; echo two"
    (tmp_path / "plan.toml").write_text(f"[[task]]\nid = 't'\nrun = ['sh', '-c', '{script}']\n")
    run = start(tmp_path, "run", "plan.toml")
    give_up_at = time.monotonic() + PATIENCE_S
    while not any(file.read_text() for file in tmp_path.glob(".manyhands/**/output.log")):
        assert time.monotonic() < give_up_at
        time.sleep(0.05)
    followed = start(tmp_path, "task", "log", "t", "-f")
    assert followed.stdout is not None
    assert followed.stdout.readline() == "one\n"
    assert followed.poll() is None, "the attempt has not ended"
    (tmp_path / "go").touch()
    rest, errors = followed.communicate(timeout=PATIENCE_S)
    assert (rest, followed.returncode) == ("two\n", 0), errors
    run.communicate(timeout=PATIENCE_S)
    again = start(tmp_path, "task", "log", "t", "-f")
    assert again.communicate(timeout=PATIENCE_S)[0] == "one\ntwo\n"
