"""A bad spec is refused whole, before anything runs, with file, line, field, value and a hint."""

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest
import yaml

from apps.evals.specs import evaluated
from manyhands.apps.evals.eval_hosts import check_against, check_width
from manyhands.apps.evals.scoring.scorer_loading import check_functions
from manyhands.apps.evals.spec.spec_file import SpecRefused, read_spec
from manyhands.apps.evals.spec.spec_schema import spec_schema
from manyhands.errors import UsageError
from manyhands.sources.config.config_reading import load_config
from surfaces.cli.console import Console

GOOD = """
[eval]
replications = 2
timeout = "20m"
[[arm]]
name = "a"
run = ["sh", "-c", "true"]
[[arm]]
name = "b"
run = ["sh", "-c", "true"]
[[case]]
name = "c"
prompt = "p"
[[scorer]]
name = "s"
type = "file"
file = "x"
"""


def refused(tmp_path: Path, text: str) -> SpecRefused:
    (tmp_path / "spec.toml").write_text(text)
    try:
        read = read_spec(tmp_path / "spec.toml")
        check_against(read, load_config(tmp_path))
        check_functions(read, tmp_path)
    except SpecRefused as error:
        return error
    pytest.fail("nothing was wrong with it")


@pytest.mark.parametrize(
    ("was", "becomes", "field", "message"),
    [
        ("replications = 2", "replications = 0", "eval.replications", "must be at least 1, got 0"),
        ("replications = 2", 'baseline = "aa"', "eval.baseline", "must be the name of an arm, got 'aa'"),
        ("replications = 2", 'concurrency = "all"', "eval.concurrency", 'must be at least 1, or "auto"'),
        ("replications = 2", "concurrency = 0", "eval.concurrency", "must be at least 1"),
        ("replications = 2", 'order = "random"', "eval.order", "drawn"),
        ('"20m"', '"soon"', "eval.timeout", "must be a length of time"),
        ('prompt = "p"', 'prompt = "p"\nfiles = "nowhere"', "case[0].files", "that exists, got 'nowhere'"),
        ('prompt = "p"', 'prompts = ["p", "q"]', "case[0].prompts", "one prompt for each of the 1 sessions, got 2"),
        ('prompt = "p"', 'promt = "p"', "case[0].promt", "unknown field"),
        ('run = ["sh", "-c", "true"]', 'run = ["no-such-agent"]', "arm[0].run[0]", "a program that exists"),
        ('run = ["sh", "-c", "true"]', 'call = "a b"', "arm[0].call", "must name a function"),
        ('run = ["sh", "-c", "true"]', 'same_as = "x"', "arm[0].same_as", "must be the name of an arm"),
        ('run = ["sh", "-c", "true"]', "", "prompt", "none takes tasks with `prompt`"),
        ('run = ["sh", "-c", "true"]', 'run = ["true"]\nhost = "gpu"', "host", "there is no host `gpu`"),
        ('name = "b"', 'name = "a"', "arm[1].name", "is already the name of the arm on line 6"),
        ('name = "b"', 'name = "a b"', "arm[1].name", "must not have blanks"),
        ('type = "file"', 'type = "files"', "scorer[0].type", "files"),
        ('file = "x"', "", "scorer[0]", "needs `file`"),
        ('file = "x"', 'file = "../x"', "scorer[0].file", "leaves the workspace"),
        ('file = "x"', 'file = "x"\ntext = "y"', "scorer[0].text", "does not take `text`"),
        ('type = "file"\nfile = "x"', 'type = "regex"\npattern = "("', "scorer[0].pattern", "not a regular expression"),
        (
            'type = "file"\nfile = "x"',
            'type = "json"\npath = "a..b"',
            "scorer[0].path",
            "not a path in a JSON document",
        ),
        ('type = "file"\nfile = "x"', 'type = "contains"', "case[0]", "has no `expect`"),
        ('type = "file"\nfile = "x"', 'type = "python"\ncall = "nowhere:score"', "scorer[0].call", "cannot import"),
        ('type = "file"\nfile = "x"', 'type = "python"\ncall = "broken_scorer:f"', "scorer[0].call", "on load"),
        ('type = "file"\nfile = "x"', 'type = "pairwise"\nhost = "judge"', "scorer[0].host", "an openai host"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, was: str, becomes: str, field: str, message: str) -> None:
    (tmp_path / "broken_scorer.py").write_text("raise RuntimeError('on load')")
    assert was in GOOD
    error = refused(tmp_path, GOOD.replace(was, becomes, 1))
    assert [problem.field for problem in error.problems] == [field]
    problem = error.problems[0]
    assert message in problem.message
    assert problem.line > 0
    assert problem.file.endswith("spec.toml")


def test_everything_that_is_wrong_is_named_at_once(tmp_path: Path) -> None:
    text = GOOD.replace("replications = 2", "replications = -1\nsessions = 0").replace('file = "x"', 'file = "/x"')
    assert [problem.line for problem in refused(tmp_path, text).problems] == [3, 4, 18]


def test_a_spec_needs_arms_cases_and_scorers(tmp_path: Path) -> None:
    messages = [problem.message for problem in refused(tmp_path, "[eval]\n").problems]
    assert messages == ["has no arm", "has no case", "has no scorer"]
    one = GOOD.replace('[[arm]]\nname = "b"\nrun = ["sh", "-c", "true"]\n', "")
    assert "nothing to compare" in refused(tmp_path, one).problems[0].message


def test_a_file_that_is_not_there_or_no_spec_is_named(tmp_path: Path) -> None:
    with pytest.raises(SpecRefused, match="there is no such file"):
        read_spec(tmp_path / "none.toml")
    (tmp_path / "spec.json").write_text("{}")
    with pytest.raises(SpecRefused, match="is not a spec"):
        read_spec(tmp_path / "spec.json")
    (tmp_path / "spec.yaml").write_text("arm: [\n")
    with pytest.raises(SpecRefused, match="is not valid YAML"):
        read_spec(tmp_path / "spec.yaml")


def test_yaml_says_the_same_as_toml(tmp_path: Path) -> None:
    (tmp_path / "spec.toml").write_text(GOOD)
    (tmp_path / "spec.yaml").write_text(yaml.safe_dump(tomllib.loads(GOOD)))
    assert read_spec(tmp_path / "spec.yaml").spec == read_spec(tmp_path / "spec.toml").spec


def test_a_spec_that_asks_for_more_than_its_hosts_take_is_refused(tmp_path: Path) -> None:
    (tmp_path / "spec.toml").write_text(GOOD)
    read = read_spec(tmp_path / "spec.toml")
    check_width(read.spec, load_config(tmp_path), 1000)
    (tmp_path / "manyhands.toml").write_text('[hosts.local]\ntype = "shell"\nwidth = 3\n')
    config = load_config(tmp_path)
    check_width(read.spec, config, 3)
    with pytest.raises(UsageError, match=r"concurrency 4 is more than the hosts of the arms accept at once \(3\)"):
        check_width(read.spec, config, 4)


def test_the_schema_takes_what_the_reader_takes(tmp_path: Path) -> None:
    schema = spec_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    validator.validate(tomllib.loads(GOOD))
    validator.validate(tomllib.loads(GOOD.replace("replications = 2", 'concurrency = "auto"')))
    for bad in ("replications = 0", "concurrency = 0", "unknown = 1", 'order = "x"'):
        assert not validator.is_valid(tomllib.loads(GOOD.replace("replications = 2", bad))), bad
    assert not validator.is_valid(tomllib.loads(GOOD.replace('file = "x"', "")))


async def test_nothing_is_begun_with_a_bad_spec(console: Console) -> None:
    console.write("spec.toml", GOOD.replace('type = "file"\nfile = "x"', 'type = "python"\ncall = "nowhere:score"'))
    with pytest.raises(SpecRefused):
        await evaluated(console)
    assert not console.store.exists()


def test_the_command_line_says_it_like_any_other_bad_input(console: Console) -> None:
    console.write("spec.toml", GOOD.replace("replications = 2", "replications = 0"))
    done = console.run("eval", "spec.toml")
    assert done.code == 2
    assert done.err == "error: eval `spec.toml` line 3: `eval.replications` must be at least 1, got 0\n"
    assert json.loads(console.run("eval", "schema").out)["title"] == "manyhands eval"
