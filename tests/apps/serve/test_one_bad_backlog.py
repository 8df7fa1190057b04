"""What is wrong with one backlog stays there: it is named, its run stays as it was, and the others continue."""

import os
from pathlib import Path

import pytest

from apps.serve.at_work import HOLD, beads_of, hosts, plan_of, read_issues, replace_file, serving, shell, write_plan
from manyhands.apps.serve.live_backlog import WantedTasks
from manyhands.apps.serve.plan_backlog import PlanBacklog
from manyhands.core.values.task import TaskState
from sources.beads.backlog_files import row, text
from surfaces.cli.console import Console, shell_host

ODD = "\\ud800 half a pair"


class OddBacklog(PlanBacklog):
    """A reader with a bug that shows while a file is there."""

    def read(self, now: float) -> WantedTasks:
        if self.file.with_name("odd").exists():
            raise RuntimeError("a bug")
        return super().read(now)


async def test_an_error_in_one_backlog_is_named_and_the_others_continue(tmp_path: Path) -> None:
    hosts(tmp_path, 4)
    write_plan(tmp_path, [shell("a", HOLD)], "odd.jsonl")
    write_plan(tmp_path, [shell("b")])
    async with serving(tmp_path, OddBacklog(tmp_path / "odd.jsonl"), plan_of(tmp_path)) as work:
        runs = work.dispatcher.book.runs
        await work.until(lambda: "odd-1" in runs and runs["odd-1"].counts[TaskState.RUNNING], "its task to run")
        (tmp_path / "odd").touch()
        write_plan(tmp_path, [shell("a", HOLD), shell("more")], "odd.jsonl")
        await work.until(lambda: any("RuntimeError: a bug" in said for said in work.said), "the error to be named")
        assert any("odd.jsonl" in said for said in work.said)
        write_plan(tmp_path, [shell("b"), shell("c")])
        await work.until(lambda: "c" in runs["plan-1"].records, "the other backlog to be read")
        assert str(runs["odd-1"].records["a"].state) == "running", "the last good state stays"
        (tmp_path / "odd").unlink()
        write_plan(tmp_path, [shell("a", HOLD), shell("more"), shell("most")], "odd.jsonl")
        await work.until(lambda: "most" in runs["odd-1"].records, "the repaired backlog to be read")
        work.go()


@pytest.mark.parametrize("field", ["title", "labels", "metadata", "notes", "dependencies", "other"])
async def test_half_a_surrogate_pair_anywhere_in_an_issue_ends_nothing(tmp_path: Path, field: str) -> None:
    odd = {
        "labels": ["ODD"],
        "metadata": {"files": ["ODD"], "ODD": {"ODD": 1}},
        "dependencies": [{"issue_id": "p-1", "depends_on_id": "ODD", "type": "related"}],
    }.get(field, "ODD")
    hosts(tmp_path, 1)
    (tmp_path / ".beads").mkdir()
    raw = text({**row("p-1"), field: odd}, row("p-2")).replace(b"ODD", ODD.encode())
    replace_file(tmp_path / ".beads" / "issues.jsonl", raw)
    async with serving(tmp_path, beads_of(tmp_path)) as work:
        await work.until(
            lambda: {each["status"] for each in read_issues(tmp_path).values()} == {"closed"}, "both to be closed"
        )


HOSTILE_PLANS = {
    "invalid UTF-8 in a string": ("p.json", b'[{"id": "a\xff", "run": ["x"]}]', "is not UTF-8"),
    "invalid UTF-8 in a name": ("p.json", b'{"task": [], "\xff": 1}', "is not UTF-8"),
    "invalid UTF-8 in settings": (
        "p.json",
        b'{"task": [], "plan": {"x": "\xff"}}',
        "is not UTF-8",
    ),
    "half a surrogate pair": ("p.jsonl", b'{"id": "a", "run": ["x"], "title": "\\ud800 x"}\n', "is not valid JSON"),
}


@pytest.mark.parametrize("name", HOSTILE_PLANS)
def test_a_plan_that_is_not_text_is_refused(console: Console, name: str) -> None:
    file, raw, complaint = HOSTILE_PLANS[name]
    console.config(shell_host(1))
    console.write(file, raw)
    done = console.run("run", file)
    assert (done.code, complaint in done.err) == (2, True), done.err
    assert "Traceback" not in done.err


def test_what_is_not_a_regular_file_is_not_a_plan(console: Console) -> None:
    console.config(shell_host(1))
    (console.directory / "zero.jsonl").symlink_to("/dev/zero")
    os.mkfifo(console.directory / "pipe.toml")
    for name in ("zero.jsonl", "pipe.toml"):
        done = console.run("run", name)
        assert (done.code, "is not a regular file" in done.err) == (2, True), done.err
    for name in ("x" * 300 + ".toml", "x" * 300 + "/plan.toml"):
        done = console.run("run", name)
        assert (done.code, "cannot be read: file name too long" in done.err) == (2, True), done.err
        assert "Traceback" not in done.err


def test_an_endless_plan_is_refused_before_it_fills_the_memory(console: Console) -> None:
    console.config(shell_host(1))
    for name, complaint in (("p.toml", "it has more than"), ("p.jsonl", "the line has more than")):
        with console.write(name, "").open("wb") as file:
            file.truncate(1 << 40)  # all zeros, and no room taken on the disk
        done = console.run("run", name)
        assert (done.code, complaint in done.err) == (2, True), done.err
