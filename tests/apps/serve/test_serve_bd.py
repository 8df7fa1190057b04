"""Issues that a database keeps: claimed and written back through `bd`, which drops and refuses writes now and then."""

import json
import sys
from pathlib import Path
from typing import Any

from apps.serve.at_work import hosts, issue_task, serving
from manyhands.apps.serve.beads_backlog import BeadsBacklog
from manyhands.apps.serve.beads_rules import BeadsRules
from sources.beads import fake_bd
from sources.beads.backlog_files import line, project, row

FAKE_BD = Path(fake_bd.__file__).read_text()


async def test_issues_of_a_database_are_worked_off_through_bd_though_it_drops_writes(tmp_path: Path) -> None:
    hosts(tmp_path, 2)
    project(tmp_path, row("stale"))
    (tmp_path / ".beads" / "dolt").mkdir()
    home = tmp_path / "bd-home"
    home.mkdir()
    script = home / "bd"
    script.write_text(f"#!{sys.executable} -S\n{FAKE_BD}")
    script.chmod(0o755)
    (home / "database").write_bytes(b"".join(line(row(id)) + b"\n" for id in ("p-1", "p-2")))
    (home / "faults").write_text("drop\nfail\nlate\n")

    def issues() -> dict[str, dict[str, Any]]:
        try:
            return {each["id"]: each for each in map(json.loads, (home / "database").read_text().splitlines())}
        except ValueError:  # it is being written
            return {}

    backlog = BeadsBacklog(tmp_path, rules=BeadsRules(issue_task()), store=tmp_path, program=str(script))
    async with serving(tmp_path, backlog) as work:
        await work.until(lambda: [each["status"] for each in issues().values()] == ["closed"] * 2, "both to be closed")
        assert sorted(work.ran()) == ["p-1", "p-2"]
        assert any("Dolt database" in line for line in work.said), "said loudly"
    assert all("done with" in each["notes"] for each in issues().values())
    assert (tmp_path / ".beads" / "issues.jsonl").read_bytes() == line(row("stale")) + b"\n"
