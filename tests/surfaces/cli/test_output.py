"""What commands print, and where: stdout is data, stderr is talk, and each of table, JSON and ids says the same."""

import json
import re
import subprocess

import pytest

from surfaces.cli.console import Console, argv, sh, shell_host

TABLES = {
    ("task", "--limit", "3"): """\
TASK  KIND   STATE    ATTEMPT  HOST   FOR   WHY
b     shell  failed   2/2      local  T     exit 3: no luck (attempt 2)
d     shell  deferred 0/3             T     deferred in the plan
c     shell  skipped  0/3                   it needs `b`, which failed
3 of 4 shown · run plan-1: blocked 0 · ready 0 · running 0 · backoff 0 · deferred 1 · \
needs_person 0 · done 1 · failed 1 · cancelled 0 · skipped 1
""",
    ("task", "explain", "b"): "failed: exit 3: no luck (attempt 2)\n",
    ("task", "explain", "d"): """\
deferred: no dispatcher is running; `manyhands run plan.jsonl` continues
  also: deferred in the plan
""",
    ("task", "show", "b"): """\
b of run plan-1: failed
  exit 3: no luck (attempt 2)
  kind shell
  claims none
  run sh -c 'echo no luck; exit 3'
  attempts 2
attempt 1 on local: failed after T: exit 3: no luck
    no luck
attempt 2 on local: failed after T: exit 3: no luck
    no luck
""",
    ("task", "log", "b"): "no luck\n",
    ("host",): """\
HOST   TAKES  KINDS  WIDTH  IN FLIGHT  PEAK  WHY
local  run    *          2          0     2  pinned
""",
    ("lane",): """\
LANE         WIDTH  IN FLIGHT  PEAK  USUAL S  WHY
shell@local      2          0     2  N pinned
""",
}


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> Console:
    """After a run in which one is done, one failed, one is skipped and one put off."""
    console = Console(tmp_path_factory.mktemp("output"))
    console.config(shell_host(2))
    console.plan(
        [
            sh("a", "sleep 0.3"),
            sh("b", "echo no luck; exit 3", attempts=2),
            sh("c", "exit 0", needs=["b"]),
            sh("d", "exit 0", deferred=True),
        ]
    )
    done = console.run("run", "plan.jsonl")
    assert done.code == 1
    console.write("run.out", done.out)
    console.write("run.err", done.err)
    return console


def settled(text: str) -> str:
    """Without what differs from run to run: lengths of time, and the padding that depends on them."""
    text = re.sub(r"\b\d+(\.\d+)?s\b", "T", text)
    text = re.sub(r"\b\d+\.\d+\b", "N", text)
    return re.sub(r"(?<=\S) {2,}", " ", text)


@pytest.mark.parametrize("command", TABLES, ids=" ".join)
def test_a_table_reads_like_this(console: Console, command: tuple[str, ...]) -> None:
    done = console.run(*command)
    assert (done.code, done.err) == (0, "")
    assert settled(done.out) == settled(TABLES[command])


def test_a_run_tells_its_attempts_as_talk_and_its_end_as_data(console: Console) -> None:
    out = settled((console.directory / "run.out").read_text())
    assert out == settled(
        """\
STATE    TASK  WHY
failed   b     exit 3: no luck
skipped  c     it needs `b`, which failed
run plan-1: 4 tasks · deferred 1 · done 1 · failed 1 · skipped 1 · T · peak 2
"""
    )
    err = (console.directory / "run.err").read_text()
    told = [settled(line.strip()) for line in err.splitlines()]
    assert sorted(told) == sorted(
        [
            "T done a#1@local T",
            "T failed b#1@local T exit 3: no luck (again in T)",
            "T failed b#2@local T exit 3: no luck (no attempts left)",
            "1 task is left that only a person can decide on: `manyhands task --run plan-1` says why",
        ]
    )


@pytest.mark.parametrize(
    ("command", "id_field"),
    [(("task",), "task"), (("runs",), "run"), (("host",), "host"), (("lane",), "lane"), (("config",), "setting")],
)
def test_json_ids_and_tables_list_the_same_things(console: Console, command: tuple[str, ...], id_field: str) -> None:
    ids = console.run(*command, "--output", "ids").ids
    rows = console.run(*command, "--output", "json").json
    table = console.run(*command).out.splitlines()
    assert ids == [row[id_field] for row in rows]
    assert len(ids) > 0
    assert [line.split()[0] for line in table[1 : len(ids) + 1]] == ids


def test_json_has_numbers_where_tables_have_words(console: Console) -> None:
    tasks = {task["task"]: task for task in console.run("task", "-o", "json").json}
    assert (tasks["b"]["attempt"], tasks["b"]["attempts"]) == (2, 2)
    assert 0 < tasks["b"]["for_s"] < 60
    shown = console.run("task", "show", "b", "-o", "json").json
    assert [attempt["exit_code"] for attempt in shown["attempts"]] == [3, 3]
    run = console.run("runs", "show", "-o", "json").json
    assert run["counts"]["done"] == 1
    assert run["peaks"] == {"local": 2}
    assert [task["task"] for task in run["not_done"]] == ["b", "c"]


def test_a_list_that_is_cut_says_so_and_counts_all(console: Console) -> None:
    assert "1 of 4 shown" in console.run("task", "--limit", "1").out
    ids = console.run("task", "--limit", "1", "-o", "ids")
    assert ids.ids == ["b"]
    assert "1 of 4 shown; --limit shows more" in ids.err


def test_no_colour_and_no_control_codes_go_into_pipes(console: Console) -> None:
    for command in (("task",), ("runs", "show"), ("--help",), ("demo", "--mix", "--scale", "0.0005")):
        done = console.run(*command, FORCE_COLOR="1", TERM="xterm-256color")
        assert "\x1b" not in done.out + done.err, command


def test_a_reader_that_leaves_early_is_no_error(console: Console) -> None:
    command = " ".join(argv(["task"]))
    script = f"{{ {command}; echo code $? >&2; }} | head -n 1"
    done = subprocess.run(["sh", "-c", script], cwd=console.directory, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("TASK ")
    assert done.stderr == "code 0\n"


def test_a_run_outlives_those_who_listen_to_it(tmp_path_factory: pytest.TempPathFactory) -> None:
    console = Console(tmp_path_factory.mktemp("listeners"))
    console.config(shell_host(1))
    console.plan([*(sh(f"t{n}", "exit 0") for n in range(12)), sh("last", "exit 3", attempts=1)])
    command = " ".join(argv(["run", "plan.jsonl"]))
    script = f"{{ {command} 2>&1; echo $? > code; }} | head -n 2"
    subprocess.run(["sh", "-c", script], cwd=console.directory, capture_output=True, check=True)
    assert (console.directory / "code").read_text() == "1\n"
    counts = console.book().runs["plan-1"].counts
    assert (counts["done"], counts["failed"]) == (12, 1)


def test_a_terminal_without_our_characters_gets_others(console: Console) -> None:
    done = console.run("runs", PYTHONIOENCODING="ascii")
    assert done.code == 0
    assert "done 1 ? failed 1" in done.out


def test_the_schema_and_the_figures_of_a_plan_are_data(console: Console) -> None:
    schema = console.run("plan", "schema")
    assert (schema.code, schema.err) == (0, "")
    assert json.loads(schema.out)["$schema"].startswith("https://json-schema.org/")
    figures = console.run("plan", "check", "plan.jsonl", "-o", "json").json
    assert (figures["tasks"], figures["depth"], figures["ceiling"]["tasks"]) == (4, 2, 3)
    assert "depth     2" in console.run("plan", "check", "plan.jsonl").out


def test_every_move_of_a_width_is_told_with_its_reason(tmp_path_factory: pytest.TempPathFactory) -> None:
    console = Console(tmp_path_factory.mktemp("widths"))
    console.config('[hosts.local]\ntype = "shell"\nkinds = ["code"]\n')
    console.plan(sh(f"t{n}", "sleep 1.2", kind="code") for n in range(12))
    done = console.run("run", "plan.jsonl")
    assert done.code == 0
    moves = re.findall(r"^ +\d.*?s  width +(code@)?local \d+ → \d+  +(\S.*)$", done.err, re.MULTILINE)
    assert moves, done.err
    assert console.run("host", "-o", "json").json[0]["why"] in [reason for place, reason in moves if not place]
