"""A whole backlog worked off on fast hosts while others edit its file: all done, none twice."""

import asyncio
import json
import os
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from apps.serve.at_work import AtWork, beads_of, edit_issue, read_issues, serving, write_issues
from manyhands.core.values.task import Task, TaskState
from sources.beads.backlog_files import SAMPLES_DIRECTORY, row, waiting

IS_SOAK = os.environ.get("MANYHANDS_SOAK") == "1"
GENERATED = 60
REAL = 300
SEEDS = range(20) if IS_SOAK else range(1)
EDITS_MAX = 200

#: An async function that says who called: in the dispatcher's own process, so that hundreds take seconds.
MODULE = """
import asyncio
from pathlib import Path

async def work(prompt=""):
    with Path({log!r}).open("a") as log:
        log.write("x\\n")
    await asyncio.sleep(0.03)
    return "all well"
"""


def fast_host(directory: Path) -> Task:
    """A python host, and what its tasks call: a module of this test alone, since the process is shared."""
    module = f"work_{abs(hash(directory))}"
    (directory / f"{module}.py").write_text(MODULE.format(log=str(directory / "calls.txt")))
    (directory / "manyhands.toml").write_text(
        '[hosts.fast]\ntype = "python"\nwidth = 8\n[store]\ndurability = "crash"\n'
    )
    return Task("", call=f"{module}:work", attempts=3)


def generated(count: int, chance: random.Random) -> list[dict[str, Any]]:
    """Issues that need up to three earlier ones, of all priorities."""
    rows: list[dict[str, Any]] = []
    for n in range(count):
        needs = sorted({f"g-{chance.randrange(n)}" for _ in range(chance.randrange(4))}) if n else []
        rows.append(waiting(f"g-{n}", *needs, priority=chance.randrange(5)))
    return rows


def real(count: int) -> list[dict[str, Any]]:
    """Real issues with their real needs, all of them open again; what they wait for is among them or gone.

    Each claims the files it really changed, where that is known, else those that another real issue changed.
    """
    footprints: dict[str, list[str]] = {}
    for known in sorted((SAMPLES_DIRECTORY / "issue-files").glob("*.json")):
        footprints |= {id: each["files"] for id, each in json.loads(known.read_bytes()).items() if each["files"]}
    anyones = [footprints[id] for id in sorted(footprints)] or [[]]
    rows: dict[str, dict[str, Any]] = {}
    for sample in ("beads-jan15.jsonl", "herdctl-jan19.jsonl", "mu.jsonl"):
        file = SAMPLES_DIRECTORY / sample
        for line in file.read_bytes().splitlines() if file.is_file() else ():
            each = json.loads(line)
            if each.get("issue_type") in ("task", "bug", "feature", "chore") and each.get("title") and "id" in each:
                rows.setdefault(each["id"], each)
    first = sorted(rows, key=lambda id: id not in footprints)
    chosen = {id: rows[id] for id in first[:count]}
    for each in chosen.values():
        for field in ("closed_at", "close_reason", "assignee", "defer_until", "pinned", "ephemeral", "deleted_at"):
            each.pop(field, None)
        each["status"] = "open"
        kept = [edge for edge in each.get("dependencies") or [] if edge.get("type") == "blocks"]
        each["dependencies"] = [edge for edge in kept if edge["depends_on_id"] in chosen]
    for n, (id, each) in enumerate(chosen.items()):
        each["metadata"] = {"files": footprints.get(id) or anyones[n % len(anyones)]}
    return list(chosen.values())


async def meddle(work: AtWork, chance: random.Random) -> int:
    """Someone else at the same file, without a lock: titles, priorities, labels, of whatever is there."""
    edits = 0
    while edits < EDITS_MAX and work.run.unfinished:
        id = chance.choice(list(read_issues(work.directory)))
        what: dict[str, Any] = chance.choice(
            [{"title": f"Edited {edits}"}, {"priority": chance.randrange(5)}, {"labels": [f"l{edits}"]}]
        )
        # Without a new time, as a hand would do it.
        edit_issue(work.directory, id, updated_at=read_issues(work.directory)[id]["updated_at"], **what)
        edits += 1
        await asyncio.sleep(chance.uniform(0.01, 0.05))
    return edits


async def work_off(directory: Path, rows: list[dict[str, Any]], seed: int) -> int:
    """How many issues are closed in the end; each was tried, called and told of once."""
    like = fast_host(directory)
    write_issues(directory, *rows)
    chance = random.Random(seed)
    async with serving(directory, beads_of(directory, like)) as work:
        await work.until(lambda: work.dispatcher.book.runs, "the run")
        edits = await meddle(work, chance)
        await work.until(lambda: work.run.records and not work.run.unfinished, "all tasks")
        await work.until(lambda: not unclosed(directory), "all issues to be closed")
        states = Counter(str(record.state) for record in work.run.records.values())
        assert states == {"done": len(rows)}
        assert edits > 0
        started = Counter(len(record.history or ()) for record in work.run.records.values())
        assert started == {1: len(rows)}, "each was tried once"
    assert len((directory / "calls.txt").read_text().split()) == len(rows), "each was called once"
    issues = read_issues(directory)
    for id, each in issues.items():
        assert each["status"] == "closed", id
        assert each["closed_at"], id
        assert each["notes"].count("all well") == 1, id
    return len(issues)


def unclosed(directory: Path) -> Iterator[str] | list[str]:
    return [id for id, each in read_issues(directory).items() if each["status"] != "closed"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
async def test_a_generated_backlog_is_worked_off_while_its_file_is_edited(tmp_path: Path, seed: int) -> None:
    assert await work_off(tmp_path, generated(GENERATED, random.Random(seed)), seed) == GENERATED


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
async def test_real_issues_with_their_needs_are_worked_off_while_their_file_is_edited(
    tmp_path: Path, seed: int
) -> None:
    rows = real(REAL)
    if not rows:
        pytest.skip(f"no real backlogs in {SAMPLES_DIRECTORY}")
    assert len(rows) == REAL
    assert await work_off(tmp_path, rows, seed) == REAL


async def test_no_need_is_run_before_what_it_waits_for(tmp_path: Path) -> None:
    like = fast_host(tmp_path)
    rows = [row("c-0"), *(waiting(f"c-{n}", f"c-{n - 1}") for n in range(1, 10))]
    write_issues(tmp_path, *reversed(rows))
    async with serving(tmp_path, beads_of(tmp_path, like)) as work:
        await work.until(lambda: work.state("c-9") == TaskState.DONE, "the chain")
        starts = [work.started_at(f"c-{n}") or 0.0 for n in range(10)]
        assert starts == sorted(starts)
