"""People are told once of each cause, by a command and a webhook: without secrets, with a link if there is a page."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from helpers import Player, a_host, a_task
from manyhands.assembly import open_session
from manyhands.core.events import QuestionAsked
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.question import Question, QuestionKind
from manyhands.core.values.task import NO_CLAIMS, Task
from manyhands.engine.run_opening import opening
from manyhands.engine.telling.messengers import form_of
from manyhands.engine.telling.tidings import Tiding, Tidings
from manyhands.sources.config.config_reading import ConfigRefused, load_config
from manyhands.sources.config.tell_config import TellConfig

CLOSED = Ending(EndingKind.OVERLOADED, "closed until 14:57", quota=True, retry_after_s=600.0)
FAILED = Ending(EndingKind.FAILED, "no luck", permanent=True)


def told(player: Player, tidings: Tidings, seen: int) -> list[tuple[str, str]]:
    return [(one.about, one.title) for one in tidings.of(player.journal[seen:])]


def test_each_cause_is_told_once() -> None:
    player = Player(a_host("claude", width=2, account="work"))
    tidings = Tidings(player.book)
    player.open(*(a_task(f"t{n}") for n in range(4)))
    assert told(player, tidings, 0) == []
    seen = len(player.journal)
    player.end("t0", ending=FAILED)
    assert told(player, tidings, seen) == [("failure", "t0 failed in run r")]
    seen = len(player.journal)
    player.end("t1", ending=FAILED)
    player.end("t2", ending=CLOSED)
    assert told(player, tidings, seen) == [("account", "claude is closed")], "the second failure is not news"
    seen = len(player.journal)
    player.end("t3", ending=CLOSED)
    assert told(player, tidings, seen) == []
    seen = len(player.journal)
    player.wait(700.0)
    assert told(player, tidings, seen) == [("account", "claude is open again")]
    seen = len(player.journal)
    player.run_to_end()
    assert told(player, tidings, seen) == [("end", "run r has ended")]


def test_a_question_is_told_when_it_is_asked_and_not_again_when_the_attempt_ends() -> None:
    player = Player()
    tidings = Tidings(player.book)
    player.open(a_task("t0"))
    assert told(player, tidings, 0) == []
    seen = len(player.journal)
    asks = Question(QuestionKind.QUESTION, "which database?")
    player.play(QuestionAsked(player.at, player.attempt_of("t0"), asks))
    assert told(player, tidings, seen) == [("person", "t0 of run r asks you")]
    seen = len(player.journal)
    player.end("t0", ending=Ending(EndingKind.FAILED, "asks: which database?", needs_person=True, asks=asks))
    assert player.state("t0") == "needs_person"
    assert told(player, tidings, seen) == []


HOSTILE = Tiding("failure", "a failed", "<!channel> @everyone & more", "r")


def test_what_a_task_writes_mentions_nobody() -> None:
    _, slack = form_of(TellConfig(webhook="http://x", form="slack"), HOSTILE, "http://page", 1.0)
    assert json.loads(slack) == {"text": "a failed\n&lt;!channel&gt; @everyone &amp; more\nhttp://page"}
    _, discord = form_of(TellConfig(webhook="http://x", form="discord"), HOSTILE, "", 1.0)
    assert json.loads(discord)["allowed_mentions"] == {"parse": []}
    headers, ntfy = form_of(TellConfig(webhook="http://x", form="ntfy"), HOSTILE, "http://page", 1.0)
    assert (headers["title"], headers["click"]) == ("a failed", "http://page")
    assert ntfy.decode() == "<!channel> @everyone & more\nhttp://page"
    headers, _ = form_of(TellConfig(form="ntfy"), Tiding("end", "ü\r\nx: y", ""), "", 1.0)
    assert headers["title"].isascii()
    assert "\n" not in headers["title"]


@pytest.fixture
def inbox() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A webhook, and what it got."""
    got: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/hook-4711-secret-path", got
    server.shutdown()


async def test_a_command_and_a_webhook_hear_of_a_run(
    tmp_path: Path, inbox: tuple[str, list[dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, got = inbox
    monkeypatch.setenv("HOOK", address)
    (tmp_path / "manyhands.toml").write_text(
        f"""
[hosts.local]
type = "shell"
[[tell]]
webhook_env = "HOOK"
[[tell]]
on = ["end"]
command = ["sh", "-c", 'echo "$MANYHANDS_TELL_CAUSE $MANYHANDS_TELL_TITLE: $MANYHANDS_TELL_TEXT" >> "{tmp_path}/heard"']
"""
    )
    script = 'echo "$1 \'; touch stolen"; exit 1'
    tasks = [Task("bad", run=("sh", "-c", script, "sh", address), claims=NO_CLAIMS, attempts=1, kind="shell")]
    async with open_session(load_config(tmp_path)) as dispatcher:
        dispatcher.page = "http://127.0.0.1:1"
        await dispatcher.submit(*opening("r", dispatcher.clock.now(), tasks))
        await dispatcher.wait_settled("r")
    assert sorted(one["cause"] for one in got) == ["end", "failure"]
    assert {one["link"] for one in got} == {"http://127.0.0.1:1/#/?run=r"}
    assert all(address not in json.dumps(one) for one in got), "the address of the hook is a secret"
    assert (tmp_path / "heard").read_text() == "end run r has ended: failed 1\n"
    assert not (tmp_path / "stolen").exists()
    journal = b"".join(path.read_bytes() for path in (tmp_path / ".manyhands").glob("journal*"))
    assert journal
    assert b"MANYHANDS_TELL" not in journal


def test_a_way_to_tell_is_one_way(tmp_path: Path) -> None:
    (tmp_path / "manyhands.toml").write_text('[[tell]]\non = ["end"]\n')
    with pytest.raises(ConfigRefused, match="must name one way to tell you"):
        load_config(tmp_path, environ={})
