"""The live picture, seen on a real pseudo-terminal: lanes while it runs, a clean screen after it."""

import io
import os
import pty
import re
import select
import subprocess
import time

import pytest
from rich.cells import cell_len
from rich.console import Console as RichConsole

from helpers import Player, a_host, a_task
from manyhands.surfaces.api.picture.idle import forms_of
from manyhands.surfaces.cli.happenings import Happened, Tone
from manyhands.surfaces.cli.live_picture import LiveSight, draw
from surfaces.cli.console import PATIENCE_S, Console, argv, sh, shell_host

CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
COLOURS = re.compile(r"\x1b\[[0-9;]*(3[0-7]|4[0-7]|9[0-7])[0-9;]*m")


def on_a_terminal(console: Console, *arguments: str, **env: str) -> tuple[int, str]:
    """The exit code, and all that a terminal of 24 × 100 was sent."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        argv(arguments),
        cwd=console.directory,
        env={**console.env, "TERM": "xterm-256color", "LINES": "24", **env},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    sent = b""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if not select.select([ours], [], [], 0.1)[0]:
            continue
        try:
            piece = os.read(ours, 1 << 16)
        except OSError:  # the last one to hold the other end has gone
            break
        sent += piece
    os.close(ours)
    return process.wait(PATIENCE_S), sent.decode().replace("\r\n", "\n")


@pytest.fixture
def lively(console: Console) -> Console:
    console.config(shell_host(2, "fast", kinds=["code", "text"]) + shell_host(1, "big", kinds=["slow"]))
    kinds = ("code", "text", "slow")
    console.plan(sh(f"{kinds[n % 3]}-{n}", "sleep 1", kind=kinds[n % 3]) for n in range(9))
    return console


def test_lanes_show_their_width_what_is_in_flight_the_rate_and_the_expected_end(lively: Console) -> None:
    code, sent = on_a_terminal(lively, "run", "plan.jsonl")
    assert code == 0
    seen = CODES.sub("", sent)
    assert re.search(r"HOST +KIND +WIDTH +USUAL +RATE", seen)
    assert re.search(r"fast +code +█▒ 1 of 2 ", seen)
    assert re.search(r"big +slow +█ 1 of 1 ", seen)
    assert re.search(r"  code-\d#1 +fast +\d\.\ds  ", seen)
    assert re.search(r"plan-1  \d+\.\ds  [━─]+  \d of 9 · .*/(s|min) · about \d+\.\ds left", seen)
    assert re.search(r"^big: full at 1: ", seen, re.MULTILINE)
    # Alone colour says nothing: with none of it the same words are there.
    assert "\x1b[?25h" in sent.rsplit("\x1b[?25l", 1)[1], "the cursor is back"


def test_the_last_frame_is_whole_and_the_report_follows_it(lively: Console) -> None:
    _, sent = on_a_terminal(lively, "run", "plan.jsonl")
    last = CODES.sub("", sent.rsplit("\x1b[2K", 1)[1]).strip().splitlines()
    rows = [line.split() for line in last if line.strip()]
    assert rows[0] == ["HOST", "KIND", "WIDTH", "PEAK", "USUAL"]
    assert [row[:3] for row in rows[1:4]] == [["fast", "code", "2"], ["fast", "text", "2"], ["big", "slow", "1"]]
    assert last[-2].startswith("run plan-1: 9 tasks · done 9 · failed 0 · ")
    assert last[-1].startswith("next: `manyhands review plan-1`")
    assert len(rows) == 6


def test_no_color_is_honoured(lively: Console) -> None:
    _, sent = on_a_terminal(lively, "run", "plan.jsonl", NO_COLOR="1")
    assert "HOST" in sent
    assert not COLOURS.search(sent)


def test_an_error_and_its_hint_are_coloured_on_a_terminal_alone(console: Console) -> None:
    code, sent = on_a_terminal(console, "run", "missing.toml")
    assert code == 2
    assert "\x1b[1;31merror:\x1b[0m " in sent
    assert "\x1b[" not in on_a_terminal(console, "run", "missing.toml", NO_COLOR="1")[1]
    assert "\x1b" not in console.run("run", "missing.toml").err


def test_a_dumb_terminal_gets_lines(lively: Console) -> None:
    code, sent = on_a_terminal(lively, "run", "plan.jsonl", TERM="dumb")
    assert code == 0
    assert "\x1b" not in sent
    assert sent.count("done       ") == 9


def test_what_fails_is_named_and_stays_and_the_end_says_what_to_type(console: Console) -> None:
    console.config(shell_host(2))
    console.plan([sh("good", "sleep 1"), sh("bad", "echo the disk is full; exit 3", attempts=1)])
    code, sent = on_a_terminal(console, "run", "plan.jsonl")
    assert code == 1
    seen = CODES.sub("", sent)
    assert re.search(r"\d\.\ds  failed     bad#1@local  \d\.\ds .*exit 3", seen)
    assert seen.rstrip().splitlines()[-3].startswith("next: `manyhands task log bad`")


def test_the_last_line_of_an_attempt_is_shown_and_cannot_command_the_terminal(console: Console) -> None:
    console.config(shell_host(1))
    console.plan([sh("talks", "printf 'still here\\033[2J\\033]0;mine\\007 \\n'; sleep 2")])
    _, sent = on_a_terminal(console, "run", "plan.jsonl")
    assert re.search(r"talks#1 +local +\d\.\ds  still here\s", CODES.sub("", sent))
    assert "\x1b[2J" not in sent
    assert "mine" not in sent


@pytest.mark.parametrize(("columns", "lines"), [(80, 24), (60, 12), (100, 30), (40, 6)])
def test_the_picture_fits_into_the_terminal(columns: int, lines: int) -> None:
    """Many hosts, lanes and attempts, long names and wide letters: never a line or a column too many."""
    sight = crowded_sight()
    terminal = RichConsole(width=columns, height=lines, file=io.StringIO(), force_terminal=True, color_system=None)
    terminal.print(draw(sight, columns, lines))
    drawn = CODES.sub("", terminal.file.getvalue()).splitlines()
    assert 3 <= len(drawn) < lines
    assert max(cell_len(line) for line in drawn) <= columns
    assert "crowd-1" in drawn[0]
    if lines >= 24:
        assert any("more lanes" in line for line in drawn)
        assert any("more attempts" in line for line in drawn)


def test_a_host_on_which_nothing_has_run_says_that_it_is_quiet() -> None:
    player = Player(a_host("local", 1, quiet=((0, 6 * 60),)))
    player.open(a_task("a"))
    book = player.book
    terminal = RichConsole(width=80, height=24, file=io.StringIO(), color_system=None)
    terminal.print(draw(LiveSight(book, book.runs["r"], 5.0, [], {}, [], forms_of(book), 0.0, None), 80, 24))
    assert "local: 1 free: local is quiet until 06:00 UTC" in terminal.file.getvalue()


def crowded_sight() -> LiveSight:
    hosts = [a_host(f"host-with-a-long-name-{n}", width=12) for n in range(20)]
    player = Player(*hosts)
    player.open(*(a_task(f"task-{n}-日本語の長い名前です", kind=f"kind-{n % 3}") for n in range(300)), run="crowd-1")
    book = player.book
    running = list(book.running.values())
    assert len(running) == 240
    said = {one.attempt: "it says something that is far too long for any terminal " * 3 for one in running}
    latest = [Happened(book.at, "failed", f"task-{n}", "why " * 40, Tone.BAD) for n in range(20)]
    return LiveSight(book, book.runs["crowd-1"], book.at + 5, running, said, latest, forms_of(book), 3.2, 75.0)
