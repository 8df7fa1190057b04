"""What is typed becomes values, wherever options stand."""

import contextlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyhands.errors import UsageError
from manyhands.surfaces.cli.options import OutputOption
from manyhands.surfaces.cli.parsing.declarations import Argument, CliCommand, Option
from manyhands.surfaces.cli.parsing.word_parsing import HelpWanted, values_of
from manyhands.surfaces.cli.printing import OutputFormat
from surfaces.cli.console import Console, sh, shell_host


class Together(NamedTuple):
    where: Annotated[Path | None, Option(help="A file.")] = None
    device: Annotated[Literal["cpu", "cuda"], Option(help="A device.")] = "cpu"


def body(
    name: Annotated[str, Argument("NAME", help="A name.")],
    together: Together,
    numbers: Annotated[Sequence[int], Argument("NUMBER", help="Numbers.")] = (),
    tag: Annotated[Sequence[str], Option(help="Tags.")] = (),
    half: Annotated[float, Option(help="A number.")] = 0.5,
    keep: Annotated[bool, Option("--keep/--no-keep", help="Whether to keep it.")] = True,
    fresh: Annotated[bool, Option("--fresh", help="Whether it is new.")] = False,
    output: OutputOption = OutputFormat.TABLE,
) -> int:
    """Do something."""
    calls.append((name, together, numbers, tag, half, keep, fresh, output))
    return 3


calls: list[tuple[Any, ...]] = []
COMMAND = CliCommand(body)
DEFAULTS = {
    "where": None,
    "device": "cpu",
    "numbers": (),
    "tag": (),
    "half": 0.5,
    "keep": True,
    "fresh": False,
    "output": OutputFormat.TABLE,
}


@pytest.mark.parametrize(
    ("typed", "values"),
    [
        ("n", {}),
        ("n 1 2", {"numbers": [1, 2]}),
        ("--fresh n --tag a 1 --tag=b 2", {"fresh": True, "tag": ["a", "b"], "numbers": [1, 2]}),
        ("-o json n", {"output": OutputFormat.JSON}),
        ("-ojson n", {"output": OutputFormat.JSON}),
        ("n --output ids --output table", {}),
        ("n --no-keep", {"keep": False}),
        ("n --no-keep --keep", {}),
        ("n --where a/b --device cuda", {"where": Path("a/b"), "device": "cuda"}),
        ("n --half .25", {"half": 0.25}),
        ("n --tag --fresh", {"tag": ["--fresh"]}),
        ("n --tag=", {"tag": [""]}),
        ("-- --fresh 1", {"name": "--fresh", "numbers": [1]}),
        ("-", {"name": "-"}),
    ],
)
def test_options_stand_before_between_and_after_arguments(typed: str, values: dict[str, Any]) -> None:
    assert values_of(COMMAND, typed.split()) == DEFAULTS | {"name": "n"} | values


@pytest.mark.parametrize(
    ("typed", "error"),
    [
        ("", "NAME is missing"),
        ("n x", "`NUMBER` must be a whole number, got `x`"),
        ("n --half x", "`--half` must be a number, got `x`"),
        ("n --device tpu", "`--device` must be cpu or cuda, got `tpu`"),
        ("n --keeep", "there is no option `--keeep`: did you mean `--keep`?"),
        ("n -x", "there is no option `-x`"),
        ("n --keep=1", "`--keep` does not take a value, got `1`"),
        ("n --tag", "`--tag` needs a value"),
    ],
)
def test_a_wrong_word_is_named(typed: str, error: str) -> None:
    with pytest.raises(UsageError) as raised:
        values_of(COMMAND, typed.split())
    assert raised.value.message == error


def test_options_that_belong_together_reach_the_function_as_one_value() -> None:
    calls.clear()
    assert COMMAND.call(values_of(COMMAND, ["n", "--where", "x", "1"])) == 3
    assert calls == [("n", Together(Path("x")), [1], (), 0.5, True, False, OutputFormat.TABLE)]


WORDS = ("n", "1", "--", "-", "-o", "json", "-ox", "--tag", "--fresh", "--no-keep", "--x=1", "")


@given(st.lists(st.sampled_from(WORDS)))
def test_whatever_is_typed_there_are_all_values_or_an_error(words: list[str]) -> None:
    with contextlib.suppress(UsageError):
        assert set(values_of(COMMAND, words)) == set(DEFAULTS) | {"name"}


def test_help_is_wanted_wherever_it_stands() -> None:
    for words in (["--help"], ["n", "--help"], ["n", "1", "--help", "--bogus"]):
        with pytest.raises(HelpWanted):
            values_of(COMMAND, words)
    assert values_of(COMMAND, ["--", "--help"])["name"] == "--help"


def test_settings_may_stand_before_the_noun_after_it_and_after_the_verb(console: Console) -> None:
    console.config(shell_host(1))
    console.plan([sh("a", "exit 0")])
    assert console.run("--store", "kept", "run", "plan.jsonl").code == 0
    assert (console.directory / "kept" / "journal.db").exists()
    assert not console.store.exists()
    for words in (
        ["--store", "kept", "task", "show", "a", "-o", "json"],
        ["task", "--store=kept", "-ojson", "show", "a"],
        ["task", "show", "a", "--store", "kept", "-o", "json"],
    ):
        done = console.run(*words)
        assert (done.code, json.loads(done.out)["task"]) == (0, "a"), words
    refused = console.run("--store", "kept", "plan", "schema")
    assert (refused.code, refused.out) == (2, "")
    assert "there is no option `--store`" in refused.err
