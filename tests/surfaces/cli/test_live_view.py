"""The live picture, seen on a real pseudo-terminal: lanes while it runs, a clean screen after it."""

import os
import pty
import re
import select
import subprocess
import time

import pytest

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
    assert re.search(r"HOST +KIND +WIDTH +USUAL +RATE +IN FLIGHT", seen)
    assert re.search(r"fast +code +█▒ 1 of 2 .* code-\d \d\.\ds", seen)
    assert re.search(r"big +slow +█ 1 of 1 .* slow-\d \d\.\ds", seen)
    assert re.search(r"plan-1  \d+\.\ds · \d of 9 · .*running 3 .*/(s|min) · about \d+\.\ds left", seen)
    # Alone colour says nothing: with none of it the same words are there.
    assert "\x1b[?25h" in sent.rsplit("\x1b[?25l", 1)[1], "the cursor is back"


def test_the_last_frame_is_whole_and_the_report_follows_it(lively: Console) -> None:
    _, sent = on_a_terminal(lively, "run", "plan.jsonl")
    last = CODES.sub("", sent.rsplit("\x1b[2K", 1)[1]).strip().splitlines()
    rows = [line.split() for line in last if line.strip()]
    assert rows[0] == ["HOST", "KIND", "WIDTH", "USUAL"]
    assert [row[:3] for row in rows[1:4]] == [["fast", "code", "2"], ["fast", "text", "2"], ["big", "slow", "1"]]
    assert last[-1].startswith("run plan-1: 9 tasks · done 9 · failed 0 · ")
    assert len(rows) == 5


def test_no_color_is_honoured(lively: Console) -> None:
    _, sent = on_a_terminal(lively, "run", "plan.jsonl", NO_COLOR="1")
    assert "HOST" in sent
    assert not COLOURS.search(sent)


def test_a_dumb_terminal_gets_lines(lively: Console) -> None:
    code, sent = on_a_terminal(lively, "run", "plan.jsonl", TERM="dumb")
    assert code == 0
    assert "\x1b" not in sent
    assert sent.count("done       ") == 9
