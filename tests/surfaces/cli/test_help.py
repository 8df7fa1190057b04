"""Help is there at once for every command, in whole sentences at every width, and says what the exit codes mean."""

import tomllib
from pathlib import Path

import pytest

from manyhands import __version__
from manyhands.surfaces.cli.installed import EXTRAS
from manyhands.surfaces.cli.main import NOUNS, answer, noun_of
from manyhands.surfaces.cli.parsing.declarations import CliCommand
from manyhands.surfaces.cli.parsing.help_text import command_help, noun_help, summary
from surfaces.cli.console import Console, sh, shell_host

#: What takes long to load. `--help` needs none of it; listing tasks needs what reads a config and a journal.
HEAVY = {"argparse", "asyncio", "click", "httpx", "inspect", "mcp", "msgspec", "openai", "psutil", "pydantic"}
HEAVY |= {"pynvml", "rich", "sqlite3", "starlette", "typer", "uvicorn", "yaml"}
HEAVY |= {"email", "hashlib", "http", "socket", "subprocess", "tempfile", "zipfile"}
NEEDED_TO_LIST = {"inspect", "msgspec", "sqlite3"}  # msgspec loads inspect


def paths() -> list[tuple[str, ...]]:
    """Every noun, and every noun with each of its verbs."""
    return [path for name in NOUNS for path in [(name,), *((name, verb) for verb in noun_of(name).verbs)]]


def commands() -> list[tuple[str, CliCommand]]:
    found = []
    for name in NOUNS:
        noun = noun_of(name)
        found += [(f"{name} {verb}", command) for verb, command in noun.verbs.items()]
        found += [(name, noun.bare)] if noun.bare is not None else []
    return found


COMMANDS = commands()


def loaded_by(console: Console, *arguments: str) -> set[str]:
    script = (
        "import sys\n"
        "from manyhands.surfaces.cli.main import answer\n"
        f"answer({list(arguments)!r})\n"
        "print(*(name for name in sys.modules if '.' not in name), file=sys.stderr)\n"
    )
    done = console.python(script)
    assert done.code == 0
    return HEAVY & set(done.err.split())


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("task", "--help"), ("eval", "run", "--help")])
def test_help_loads_nothing_that_takes_long(console: Console, arguments: tuple[str, ...]) -> None:
    assert loaded_by(console, *arguments) == set()


def test_listing_tasks_loads_what_reads_a_config_and_a_journal_and_no_more(console: Console) -> None:
    console.config(shell_host(2))
    console.plan(sh(f"t{n}", "exit 0") for n in range(3))
    assert console.run("run", "plan.jsonl").code == 0
    assert loaded_by(console, "task") <= NEEDED_TO_LIST


def test_help_of_every_command_is_data_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    for path in [(), *paths()]:
        assert answer([*path, "--help"]) == 0
        out, err = capsys.readouterr()
        assert out.startswith(f"Usage: {' '.join(['manyhands', *path])}")
        assert err == ""


def test_every_command_and_option_says_what_it_does_in_sentences() -> None:
    texts = [*NOUNS.values(), *(noun_of(name).text for name in NOUNS)]
    for _, command in COMMANDS:
        texts += [command.text, *(field.declared.help for field in command.fields)]
    wrong = [text for text in texts if not text[:1].isupper() or not text.strip().endswith(".") or "…" in text]
    assert wrong == []


@pytest.mark.parametrize("width", [40, 80])
def test_help_is_wrapped_and_never_cut(width: int) -> None:
    for path, command in COMMANDS:
        text = command_help(f"manyhands {path}", command, width)
        together = " ".join(text.split())
        for field in command.fields:
            hidden = getattr(field.declared, "hidden", False)
            assert (" ".join(field.declared.help.split()) in together) is not hidden, (path, field.name)
        assert " ".join(command.text.split()) in together
        body = text.partition("\n")[2]
        assert "..." not in body
        assert "…" not in body
        # A name with all its choices stands on a line of its own, however long it is.
        assert [line for line in body.splitlines() if len(line) > width and not line.startswith("  --")] == []


@pytest.mark.parametrize("width", [40, 80])
def test_the_list_of_commands_has_their_first_sentence_whole(width: int) -> None:
    for name in NOUNS:
        noun = noun_of(name)
        if noun.verbs:
            together = " ".join(noun_help(f"manyhands {name}", noun, width).split())
            assert [verb for verb, command in noun.verbs.items() if summary(command) not in together] == []


@pytest.mark.parametrize("columns", ["40", "80", "0", "many"])
def test_the_list_of_nouns_is_whole_in_any_terminal(console: Console, columns: str) -> None:
    done = console.run("--help", COLUMNS=columns)
    together = " ".join(done.out.split())
    assert [name for name, text in NOUNS.items() if f"{name} {text}" not in together] == []


def test_the_exit_codes_are_in_the_help(console: Console) -> None:
    for command in ((), ("run",)):
        text = " ".join(console.run(*command, "--help").out.split())
        assert "0: everything is done. 1: at least one task did not succeed. 2: the usage or the input is wrong" in text
        assert "75: stopped, busy or not available now; try the same command again" in text


@pytest.mark.parametrize("noun", [(), ("plan",), ("eval",), ("--store", "x")])
def test_a_noun_that_lists_nothing_shows_its_help_and_exits_2(console: Console, noun: tuple[str, ...]) -> None:
    done = console.run(*noun)
    assert (done.code, done.out) == (2, "")
    assert "Usage: manyhands" in done.err


def test_the_version_is_told(console: Console) -> None:
    done = console.run("--version")
    version, extras, *_ = done.out.splitlines()
    assert (done.code, version) == (0, f"manyhands {__version__}")
    assert set(extras.removeprefix("extras: ").split(", ")) <= {*EXTRAS, "none"}


def test_every_extra_of_the_package_is_looked_for() -> None:
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]
    assert set(project["optional-dependencies"]) - {"dev", "docs", "peers"} == set(EXTRAS)
