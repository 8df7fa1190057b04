"""Approval from the command line: the walk through the docs, as it stands there."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hosts.landing.project import ENV

DOC = Path(__file__).parents[2] / "docs" / "approval.md"
SELF = {
    f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in (("NAME", "n"), ("EMAIL", "e@x"))
}


@pytest.mark.slow
def test_the_commands_of_the_docs_land_what_was_approved_and_what_was_sent_back(tmp_path: Path) -> None:
    [script] = re.findall(r"^```sh\n(.*?)^```", DOC.read_text(), re.MULTILINE | re.DOTALL)
    env = {**os.environ, **ENV, **SELF, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    command = ["sh", "-ec", f"exec 2>&1; {script}"]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    log = subprocess.run(["git", "log", "--format=%s"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert log.stdout.split() == ["bye", "hello", "first"]
    assert (tmp_path / "bye.txt").read_text() == "say farewell\n"
    for told in (
        "2 wait for a person: `manyhands inbox` says for what",
        "approval hello of run plan-1, holds 1 task",
        "  $ manyhands task approve hello --run plan-1",
        "hello of run plan-1, attempt 1: 1 file, +1 −0",
        "$ grep h hello.txt\nhello\n",
        "+hello\n",
        "task hello of run plan-1 will land when `manyhands run plan.jsonl` continues the run",
        "+say farewell\n",
    ):
        assert told in done.stdout, done.stdout
    shown = subprocess.run(["manyhands", "task", "show", "bye"], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert re.search(r"attempt 1 .*\n  sent back by \S+, \d{4}-.*: say farewell\n", shown.stdout), shown.stdout
    assert re.search(r"attempt 2 .*\n  approved by \S+, \d{4}-", shown.stdout), shown.stdout
