"""Nothing that comes from a task makes a terminal do anything, unless a person asks for it with `--raw`."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyhands.surfaces.cli.terminal_text import for_terminal, output_for_terminal
from surfaces.cli.console import Console, sh, shell_host

#: Clears the screen, renames the window, rings, turns the direction of text, and begins the line again.
EVIL = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202eevil\x08\x7f\rforged"
ODD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
PRINTS = r"printf '\033[2J\033]0;owned\007 evil\b\rforged\n'; exit 3"
COMMANDS = [
    ["task"],
    ["task", "show", "a"],
    ["task", "explain", "a"],
    ["task", "tree"],
    ["task", "log", "a"],
    ["task", "show", "a", "--output", "json"],
    ["review"],
    ["review", "--output", "html"],
    ["runs"],
    ["host"],
    ["task", "show", EVIL],
    ["task", "--state", EVIL],
    [EVIL],
]


@pytest.fixture
def ran(console: Console) -> Console:
    console.config(shell_host(1))
    console.plan([sh("a", PRINTS, title=EVIL, attempts=1), sh("b", "exit 0", needs=["a"], title=f"two\nlines {EVIL}")])
    done = console.run("run", "plan.jsonl")
    assert done.code == 1, done.err
    assert not ODD.search(done.out + done.err)
    assert "forged" in done.err
    return console


def test_what_a_task_prints_or_is_called_cannot_forge_the_terminal(ran: Console) -> None:
    for words in COMMANDS:
        done = ran.run(*words)
        assert not ODD.search(done.out + done.err), (words, done)
    assert "\nlines" not in ran.run("task", "tree").out, "a title stays on its line"
    assert ran.run("task", "log", "a").out == " evil\\u0008\nforged\n"


def test_a_person_can_have_the_output_as_it_is(ran: Console) -> None:
    assert ran.run("task", "log", "a", "--raw").out == "\x1b[2J\x1b]0;owned\x07 evil\x08\rforged\n"


@given(st.text(st.characters(codec=None)))
def test_no_text_keeps_anything_that_a_terminal_acts_on(text: str) -> None:
    assert not ODD.search(for_terminal(text))
    assert not ODD.search(output_for_terminal(text))
    for_terminal(text).encode()


def test_plain_text_stays_as_it_is() -> None:
    text = "größe · 5 → 7\tand\na line, 漢字 🙂"
    assert for_terminal(text) == text == output_for_terminal(text)
    assert output_for_terminal("\x1b[32mgreen\x1b[0m 10%\r20%\r\n") == "green 10%\n20%\n"
