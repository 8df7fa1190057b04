"""One thing is told in the singular."""

import re
from pathlib import Path

from manyhands.quantities import how_many_are, how_many_wait, how_many_were, quantity
from surfaces.cli.console import Console, console

__all__ = ["console"]


def test_one_is_singular() -> None:
    assert [quantity(n, "task") for n in (0, 1, 2, 1200)] == ["0 tasks", "1 task", "2 tasks", "1,200 tasks"]
    assert [how_many_are(n, "task") for n in (1, 2)] == ["1 task is", "2 tasks are"]
    assert [how_many_wait(n, "task") for n in (1, 2)] == ["1 task waits", "2 tasks wait"]
    assert [how_many_were(n, "task") for n in (1, 2)] == ["1 task was", "2 tasks were"]


def test_a_run_of_one_task_is_told_in_the_singular(console: Console) -> None:
    console.plan([{"id": "only", "run": ["true"]}], "one.jsonl")
    said = ""
    for words in (
        "plan check one.jsonl",
        "run one.jsonl",
        "run one.jsonl",
        "review",
        "handoff",
        "task",
        "host",
        "runs",
    ):
        done = console.run(*words.split())
        assert done.code == 0, done.err
        said += done.out + done.err
    assert "1 task ·" in said
    assert "the task is done" in said
    assert re.findall(r"\b1 (?:tasks|attempts|hosts|runs|files|events)\b.*", said) == []
    assert Path(console.store).exists()
