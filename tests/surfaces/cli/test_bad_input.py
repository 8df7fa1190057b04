"""Bad plans and configs through the command line: refused whole, exit 2, and nothing of them in the journal."""

import pytest

from surfaces.cli.console import Console, Done, shell_host

GOOD = '[[task]]\nid = "good"\nkind = "code"\nrun = ["true"]\n'


def second(line: str) -> str:
    """A plan whose second task has this line as its seventh."""
    return f'{GOOD}[[task]]\nid = "bad"\n{line}\nrun = ["x"]\n'


#: name → (the plan file, its content, words of the error)
BAD_PLANS: dict[str, tuple[str, str | bytes, list[str]]] = {
    "a syntax error": ("p.toml", f"{GOOD}[[task]\n", ["`p.toml` line 5"]),
    "a syntax error in YAML": ("p.yaml", "task:\n  - id: a\n   run: [x]\n", ["`p.yaml` line 3"]),
    "a syntax error in JSONL": ("p.jsonl", '{"id": "a", "run": ["x"]}\n{"id": \n', ["`p.jsonl` line 2"]),
    "an unknown field": (
        "p.toml",
        second("timout = 3"),
        ["line 7", "`timout`", "did you mean `timeout`?"],
    ),
    "a duplicate id": ("p.toml", GOOD + GOOD, ["line 5", "'good' is already the id"]),
    "a cycle": (
        "p.toml",
        '[[task]]\nid = "a"\nrun = ["x"]\nneeds = ["b"]\n[[task]]\nid = "b"\nrun = ["x"]\nneeds = ["a"]\n',
        ["a → b → a"],
    ),
    "an unknown need": ("p.toml", second('needs = ["goood"]'), ["line 7", "'goood'", "did you mean `good`?"]),
    "no host for a kind": ("p.toml", second('kind = "art"'), ["no host can take task `bad`", "`art`"]),
    "a negative time-out": ("p.toml", second("timeout = -5"), ["line 7", "`timeout`", "-5"]),
    "a 2 MB title": ("p.toml", second(f'title = "{"t" * 2_000_000}"'), ["line 7", "`title`"]),
    "NUL bytes": ("p.toml", (GOOD + "# \0\n").encode(), ["p.toml"]),
    "NUL in a value": ("p.jsonl", '{"id": "a", "run": ["x\\u0000y"]}\n', ["`p.jsonl` line 1", "`run[0]`"]),
    "a claim that escapes": ("p.toml", second('claims = { write = ["../x"] }'), ["line 7", "'../x'"]),
    "not UTF-8": ("p.toml", GOOD.encode() + b"# \xff\n", ["p.toml"]),
    "no tasks": ("p.toml", "# nothing\n", ["has no tasks"]),
    "no plan at all": ("p.png", b"\x89PNG", ["`.png`"]),
}
CONFIG = shell_host(2, kinds=["code"])


def assert_refused(done: Done, words: list[str]) -> None:
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: ")
    assert "Traceback" not in done.err
    assert len(done.err) < 5_000
    for word in words:
        assert word in done.err


@pytest.mark.parametrize("name", BAD_PLANS)
def test_a_bad_plan_is_refused_and_no_journal_is_made(console: Console, name: str) -> None:
    file, content, words = BAD_PLANS[name]
    console.config(CONFIG)
    console.write(file, content)
    assert_refused(console.run("run", file), words)
    assert not console.store.exists()


def test_a_plan_that_is_bad_in_one_of_its_files_adds_no_run_to_a_journal(console: Console) -> None:
    console.config(CONFIG)
    console.write("good.toml", GOOD)
    assert console.run("run", "good.toml").code == 0
    journal = (console.store / "journal.db").read_bytes()
    file, content, words = BAD_PLANS["a negative time-out"]
    console.write(file, content.replace("good", "fine") if isinstance(content, str) else content)
    assert_refused(console.run("run", "good.toml", file), words)
    assert [run["run"] for run in console.run("runs", "-o", "json").json] == ["good-1"]
    assert (console.store / "journal.db").read_bytes() == journal


def test_every_problem_is_told_at_once_to_people_and_to_programs(console: Console) -> None:
    console.config(CONFIG)
    console.write("p.toml", second('timeout = -5\npriority = 9\nneeds = ["nobody"]'))
    done = console.run("plan", "check", "p.toml")
    assert_refused(done, ["`timeout`", "`priority`", "'nobody'"])
    assert done.err.count("error: ") == 3
    told = console.run("plan", "check", "p.toml", "-o", "json")
    assert told.code == 2
    assert [(problem["line"], problem["field"]) for problem in told.json["problems"]] == [
        (7, "timeout"),
        (8, "priority"),
        (9, "needs"),
    ]


def test_a_bad_config_is_refused_before_anything_is_read_or_made(console: Console) -> None:
    console.config('[hosts.local]\ntype = "shel"\nwidth = 0\n')
    console.write("good.toml", GOOD)
    assert_refused(console.run("run", "good.toml"), ["`manyhands.toml` line 2", "shell"])
    assert not console.store.exists()
