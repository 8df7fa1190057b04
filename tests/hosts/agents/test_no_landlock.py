"""On a kernel without Landlock agents run unconfined, and that is said."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hosts.agents.recordings import RECORDINGS
from manyhands.hosts.agents.landlock import landlock_version

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it is Linux that has Landlock")

FAKE = Path(__file__).with_name("fake_agent.py")
#: Has the kernel answer to Landlock's first call that it does not know it, then becomes what its arguments say.
WITHOUT = """
import ctypes, os, sys
class Step(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint16), ("then", ctypes.c_uint8), ("other", ctypes.c_uint8), ("k", ctypes.c_uint32)]
class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_uint16), ("steps", ctypes.POINTER(Step))]
load_number, is_equal, answer = 0x20, 0x15, 0x06
create_ruleset, no_such_call, allow = 444, 0x00050000 | 38, 0x7FFF0000
steps = (Step * 4)(
    Step(load_number, 0, 0, 0), Step(is_equal, 0, 1, create_ruleset),
    Step(answer, 0, 0, no_such_call), Step(answer, 0, 0, allow),
)
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.byref(Filter(4, steps))) == 0, os.strerror(ctypes.get_errno())
os.execv(sys.argv[1], sys.argv[1:])
"""


def run(tmp_path: Path, confine: str, *before: str) -> str:
    """What is said of a run whose agent writes outside of its workspace."""
    work, home = tmp_path / "work", tmp_path / "home"
    notes = home / ".cache"
    notes.mkdir(parents=True)
    work.mkdir()
    exit_code, lines = RECORDINGS["claude", "ok"]
    script = notes / "script.json"
    script.write_text(json.dumps([{"then": f"echo x > {tmp_path}/out", "lines": lines, "exit": exit_code}]))
    program = {"run": [sys.executable, str(FAKE), str(script)], "reads": "claude"}
    table = ", ".join(f"{name} = {json.dumps(value)}" for name, value in program.items())
    (work / "manyhands.toml").write_text(f'[hosts.a]\ntype = "agent"\nagent = {{ {table} }}\nconfine = "{confine}"\n')
    (work / "plan.jsonl").write_text('{"id": "t", "prompt": "Do it."}\n')
    env = {"PATH": os.environ["PATH"], "HOME": str(home)}
    argv = [*before, sys.executable, "-m", "manyhands", "run", "plan.jsonl"]
    done = subprocess.run(argv, cwd=work, env=env, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_a_host_that_cannot_be_confined_says_so_and_works(tmp_path: Path) -> None:
    said = run(tmp_path, "workspace", sys.executable, "-c", WITHOUT)
    assert "runs unconfined: this kernel has no Landlock" in said
    assert (tmp_path / "out").exists()


def test_a_host_that_is_not_to_be_confined_says_nothing(tmp_path: Path) -> None:
    assert "unconfined" not in run(tmp_path, "off", sys.executable, "-c", WITHOUT)


@pytest.mark.skipif(not landlock_version(), reason="this kernel has no Landlock")
def test_a_host_that_is_confined_says_nothing(tmp_path: Path) -> None:
    assert "unconfined" not in run(tmp_path, "workspace")
    assert not (tmp_path / "out").exists()
