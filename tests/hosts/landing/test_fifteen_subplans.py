"""Fifteen subplans in worktrees of one repository, at most ten at once: measured, landed, linear, bisectable.

Each task adds a part and enters it in two registries that all of them append to. The project builds if registries and
parts agree, which is the check of every task. Ten must meet before any of them continues: were there room for fewer,
they would wait in vain.
"""

import os
from pathlib import Path

import pytest

from e2e.stamps import peak
from hosts.landing.project import Project, attempts, details, sh, states
from manyhands.core.state import Run
from manyhands.core.values.task import Task

REPEATS = 100 if os.environ.get("MANYHANDS_SOAK") else 3
COUNT, AT_ONCE = 15, 10

BUILD = """
set -e
for part in $(cat registry.txt); do test -f parts/$part.txt; done
for file in parts/*.txt; do grep -qx "$(basename $file .txt)" registry.txt; done
! grep -l broken parts/*.txt
"""
STAMP = 'echo "{0} $MANYHANDS_TASK $(date +%s%N)" >> "$STAMPS"; '
MEET = 'n=0; while [ "$(grep -c begin "$STAMPS")" -lt 10 ]; do n=$((n+1)); [ $n -gt 900 ] && exit 9; sleep 0.1; done; '
WORK = "echo made > parts/{0}.txt; echo {0} >> registry.txt; echo '- {0}' >> CHANGELOG.md; "


def subplan(id: str, more: str = "", **fields: object) -> Task:
    script = STAMP.format("begin") + MEET + WORK.format(id) + more + STAMP.format("end") + 'exit "${code:-0}"'
    return sh(
        id,
        script,
        write=(f"parts/{id}.txt",),
        append=("registry.txt", "CHANGELOG.md"),
        check=("sh", "build.sh"),
        title=f"Part {id}",
        **fields,
    )


@pytest.fixture
def parts(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("STAMPS", str(tmp_path / "stamps.txt"))
    project.commit({"build.sh": BUILD, "registry.txt": "p\n", "parts/p.txt": "made\n", "shared.txt": "x\n"}, "build")
    project.config(width=COUNT)
    return project


def assert_sound(project: Project, tmp_path: Path) -> None:
    """One commit a task, in a line; every one of them builds; the user's tree is at the last one."""
    landed = project.landed()
    assert len(landed) == len(set(landed))
    assert project.is_linear()
    assert (project.changes(), project.worktrees()) == ("", [])
    here = tmp_path / "every-commit"
    project.git("worktree", "add", "--quiet", "--detach", str(here))
    for commit in project.git("rev-list", "--reverse", "main").splitlines()[1:]:
        project.git("checkout", "--quiet", "--detach", commit, at=here)
        project.git("-c", "alias.build=!sh build.sh", "build", at=here)
    project.git("worktree", "remove", "--force", str(here))
    assert sorted(project.read("registry.txt").split()) == sorted(["p", *landed])
    assert project.read("CHANGELOG.md").splitlines()[1:] == [f"- {id}" for id in landed]


def first_with(project: Project, part: str) -> str:
    """The subject of the commit that `git bisect` finds to have brought this part."""
    project.git("bisect", "start", "main", f"main~{COUNT}")
    told = project.git("bisect", "run", "sh", "-c", f"! grep -qx {part} registry.txt")
    project.git("bisect", "reset")
    return next(line.strip() for line in told.splitlines() if line.startswith("    ") and "Part" in line)


@pytest.mark.slow
@pytest.mark.parametrize("repeat", range(REPEATS))
async def test_fifteen_subplans_at_ten_at_once_all_land_in_a_line(parts: Project, tmp_path: Path, repeat: int) -> None:
    ids = [f"s{n}" for n in range(COUNT)]
    run = await parts.run(*(subplan(id) for id in ids), concurrency=AT_ONCE)
    assert {details(run, id)[0].partition(":")[0] for id in ids} == {"done"}, [details(run, id) for id in ids]
    assert peak(tmp_path) == AT_ONCE
    assert sorted(parts.landed()) == sorted(ids)
    assert parts.branches() == []
    assert_sound(parts, tmp_path)
    if repeat == 0:
        assert first_with(parts, "s7") == "s7: Part s7"


@pytest.mark.slow
@pytest.mark.parametrize("repeat", range(REPEATS if REPEATS > 3 else 1))
async def test_injected_failures_and_conflicts_hurt_only_themselves(
    parts: Project, tmp_path: Path, repeat: int
) -> None:
    """`dies`, `kills` and `broken` never end well; of the two that clash, one lands only in its second go."""
    bad = [
        subplan("dies", "code=1; ", attempts=1),
        subplan("kills", STAMP.format("end") + "kill -9 $$; ", attempts=1),
        subplan("broken", "echo broken > parts/broken.txt; ", attempts=1),
        *(subplan(f"clash-{n}", f"echo {n} >> shared.txt; ") for n in (1, 2)),
    ]
    good = [subplan(f"s{n}") for n in range(COUNT - len(bad))]
    run: Run = await parts.run(*bad, *good, concurrency=AT_ONCE)
    ended = states(run)
    assert {id for id, state in ended.items() if state != "done"} == {"dies", "kills", "broken"}
    assert peak(tmp_path) == AT_ONCE
    assert sorted(parts.landed()) == sorted({*ended} - {"dies", "kills", "broken"})
    second = max(("clash-1", "clash-2"), key=parts.landed().index)
    assert [len(attempts(run, task.id)) for task in good] == [1] * len(good)
    assert details(run, second)[0].startswith("failed: conflict in shared.txt with what landed meanwhile")
    assert parts.branches() == [f"manyhands/plan-1/{second}.1"]
    assert_sound(parts, tmp_path)
