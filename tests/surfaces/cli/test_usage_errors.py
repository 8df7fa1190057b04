"""Typos and things that are not there: an error that names the thing and a next step, exit 2, and no traceback."""

import pytest

from surfaces.cli.console import Console, sh, shell_host

#: (what is typed, words of the error, words of the hint)
TYPOS = [
    ("rnu", "there is no command `rnu`: did you mean `run`?", "`manyhands --help`"),
    ("task sho a", "there is no command `sho`: did you mean `show`?", "`manyhands task --help`"),
    ("--stroe x task", "there is no option `--stroe`: did you mean `--store`?", "`manyhands --help`"),
    ("task --stat done", "there is no option `--stat`: did you mean `--state`?", "`manyhands task --help`"),
    ("run", "PLAN is missing", "`manyhands run --help`"),
    ("eval inject", "--text is missing", "`manyhands eval inject --help`"),
    (
        "run plan.jsonl --concurency 3",
        "there is no option `--concurency`: did you mean `--concurrency`?",
        "`manyhands run --help`",
    ),
    ("run plan.jsonl --again=yes", "`--again` does not take a value, got `yes`", "`manyhands run --help`"),
    ("run plan.jsonl --output", "`--output` needs a value", "`manyhands run --help`"),
    ("lane gpu", "there is no place for the argument `gpu`", "`manyhands lane --help`"),
    ("serve --port 70000", "`--port` must be from 0 to 65535, got 70000", "`manyhands serve --help`"),
    ("host width local 0", "`WIDTH` must be at least 1, got 0", "`manyhands host width --help`"),
    ("run plan.jsonl --concurrency 0", "`--concurrency` must be at least 1, got 0", "leave it out"),
    (
        "run plan.jsonl --concurrency many",
        "`--concurrency` must be a whole number, got `many`",
        "`manyhands run --help`",
    ),
    ("run plan.jsonl --output xml", "`--output` must be table, json or ids, got `xml`", "`manyhands run --help`"),
    ("run nowhere.toml", "`nowhere.toml`: there is no such file", "typos"),
    ("run .", "is a directory", "plan file"),
    ("run plan.jsonl --hosts nowhere.toml", "`nowhere.toml`: there is no such file", "typos"),
    ("run plan.jsonl --config nowhere.toml", "`nowhere.toml`: there is no such file", "typos"),
    ("demo --scale 0", "`--scale` must be a number above 0, got 0", "40 seconds"),
    ("demo --scale nan", "`--scale` must be a number above 0, got nan", "40 seconds"),
    ("runs", "there is no journal in", "`manyhands run PLAN` begins one"),
    ("task", "there is no journal in", "`manyhands run PLAN` begins one"),
    ("task cancel a", "there is no journal in", "`manyhands run PLAN` begins one"),
]

AFTER_A_RUN = [
    ("task show nobody", "there is no task `nobody` in any run", "`manyhands task` lists"),
    ("task show a --run nothing", "there is no run `nothing`", "`manyhands runs` lists the runs"),
    ("task cancel nobody --run plan-1", "there is no task `nobody` in run plan-1", "lists"),
    ("task cancel a", "task `a` is done and cannot be cancelled", "`manyhands task show a`"),
    ("task retry a", "task `a` is done and cannot be retried", "`manyhands run PLAN --again`"),
    ("task cancel b", "task `b` is failed and cannot be cancelled", "`manyhands task retry b`"),
    ("task defer b", "task `b` is failed and cannot be deferred", "`manyhands task retry b`"),
    ("task resume c", "task `c` is skipped and cannot be resumed", "`manyhands task retry c`"),
    ("task log a --attempt 7", "task `a` has no attempt 7", "it has had 1"),
    ("task log c", "task `c` has not been tried yet", "`manyhands task explain c`"),
    ("task --state finished", "there is no state `finished`", "blocked, ready, running"),
    ("runs show nothing", "there is no run `nothing`", "`manyhands runs` lists the runs"),
]


@pytest.fixture(scope="module")
def after_a_run(tmp_path_factory: pytest.TempPathFactory) -> Console:
    console = Console(tmp_path_factory.mktemp("after_a_run"))
    console.config(shell_host(2))
    console.plan([sh("a", "exit 0"), sh("b", "exit 3", attempts=1), sh("c", "exit 0", needs=["b"])])
    assert console.run("run", "plan.jsonl").code == 1
    return console


def check(console: Console, typed: str, error: str, hint: str) -> None:
    done = console.run(*typed.split())
    assert (done.code, done.out) == (2, "")
    first, *others = done.err.splitlines()
    assert first.startswith("error: ")
    assert error in first
    assert hint in others[0]
    assert others[0].startswith("hint: ")
    assert len(others) == 1


@pytest.mark.parametrize(("typed", "error", "hint"), TYPOS)
def test_a_typo_is_told_and_leaves_nothing_behind(console: Console, typed: str, error: str, hint: str) -> None:
    console.plan([sh("a", "exit 0")])
    check(console, typed, error, hint)
    assert not console.store.exists()


@pytest.mark.parametrize(("typed", "error", "hint"), AFTER_A_RUN)
def test_what_cannot_be_done_is_told_with_what_can(after_a_run: Console, typed: str, error: str, hint: str) -> None:
    check(after_a_run, typed, error, hint)
