"""Builders of small Beads backlogs."""

import json
from pathlib import Path
from typing import Any

import pytest

from manyhands.sources.beads.beads_reading import Beads, parse

#: Real backlogs, where there are any beside the project.
SAMPLES_DIRECTORY = Path(__file__).parents[3] / ".." / "shared" / "data" / "beads"
SAMPLES = sorted([*SAMPLES_DIRECTORY.glob("*.jsonl"), *SAMPLES_DIRECTORY.glob("irregular/*.jsonl")])
NOW = 1_780_000_000.0  # a day in 2026, after everything in the samples

each_sample = pytest.mark.parametrize(
    "sample",
    [pytest.param(path, id=path.stem) for path in SAMPLES]
    or [pytest.param(None, marks=pytest.mark.skip(reason=f"no real backlogs in {SAMPLES_DIRECTORY}"))],
)


def row(id: str, **fields: Any) -> dict[str, Any]:
    """An issue with everything Beads wants, in its order."""
    known: dict[str, Any] = {
        "id": id,
        "title": f"Do {id}",
        "status": "open",
        "priority": 2,
        "issue_type": "task",
        "created_at": "2026-01-02T03:04:05.123456-08:00",
        "updated_at": "2026-01-02T03:04:05.123456-08:00",
    }
    if fields.get("status") == "closed":
        known["closed_at"] = "2026-01-03T00:00:00Z"
    known.update(fields)
    return {name: value for name, value in known.items() if value is not ...}


def depends(on: str, type: str = "blocks", **fields: Any) -> dict[str, Any]:
    return {"issue_id": fields.pop("of", ""), "depends_on_id": on, "type": type, **fields}


def waiting(id: str, *on: Any, **fields: Any) -> dict[str, Any]:
    """An issue with dependencies: ids it is blocked by, or `depends(…)`."""
    edges = [depends(each) if isinstance(each, str) else each for each in on]
    return row(id, dependencies=[edge | {"issue_id": id} for edge in edges], **fields)


def child(id: str, parent: str, *on: Any, **fields: Any) -> dict[str, Any]:
    return waiting(id, depends(parent, "parent-child"), *on, **fields)


def line(fields: dict[str, Any]) -> bytes:
    return json.dumps(fields, separators=(",", ":"), ensure_ascii=False).encode()


def text(*rows: dict[str, Any] | bytes) -> bytes:
    return b"".join((each if isinstance(each, bytes) else line(each)) + b"\n" for each in rows)


def backlog(*rows: dict[str, Any] | bytes) -> Beads:
    return parse(text(*rows), "issues.jsonl")


def project(directory: Path, *rows: dict[str, Any] | bytes, name: str = "issues.jsonl") -> Path:
    """A project with a backlog; its file is `.beads/<name>`."""
    (directory / ".beads").mkdir(parents=True, exist_ok=True)
    (directory / ".beads" / name).write_bytes(text(*rows))
    return directory
