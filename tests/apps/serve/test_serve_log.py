"""The lines a dispatcher that keeps running writes of what happens: whole, bounded, and without a secret in them."""

import re
import shlex

import pytest

from helpers import Player, a_host, a_task
from manyhands.apps.serve.event_log import VALUE_CHARACTERS_MAX, EventLines, Log, line
from manyhands.core import events as ev
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.task import Task
from manyhands.engine.redaction import Secrets

AT = 1794784801.0  # 2026-11-15T23:20:01Z
NONE = Secrets({})


class Story:
    """Plays to a scheduler and keeps the lines of each batch."""

    def __init__(self, *tasks: Task, secrets: Secrets = NONE, width: int = 1) -> None:
        self.player = Player(a_host("gpu-1", width))
        self.log = EventLines(self.player.book, secrets)
        self.lines = self.tell(ev.RunOpened(AT, "nightly-1"), ev.TasksSubmitted(AT, "nightly-1", tasks))

    def tell(self, *happened: ev.Input) -> list[str]:
        told = len(self.player.journal)
        self.player.play(*happened)
        return [text.partition(" ")[2] for text in self.log.lines(self.player.journal[told:])]


def test_an_attempt_is_told_from_start_to_end_and_to_the_next() -> None:
    story = Story(a_task("lint-7", attempts=2))
    assert story.lines == [
        "action=opened run=nightly-1",
        "action=submitted task=lint-7 run=nightly-1 tasks=1",
        "action=started task=lint-7#1@gpu-1 run=nightly-1 kind=code",
    ]
    failed, retry = story.tell(ev.AttemptEnded(AT + 2.5, 1, Ending(EndingKind.FAILED, "exit code 3", exit_code=3)))
    assert failed == (
        "action=ended task=lint-7#1@gpu-1 run=nightly-1 kind=code ending=failed took_s=2.5 exit_code=3 "
        'detail="exit code 3"'
    )
    assert re.fullmatch(r"action=retry task=lint-7 run=nightly-1 in_s=[\d.]+", retry)
    assert story.tell(ev.Woke(AT + 1000)) == ["action=started task=lint-7#2@gpu-1 run=nightly-1 kind=code"]
    assert "#2@gpu-1" in story.tell(ev.AttemptEnded(AT + 1001, 2, Ending(EndingKind.DONE)))[0]
    assert story.tell(ev.AttemptEnded(AT + 1001, 2, Ending(EndingKind.DONE))) == [], "told twice is said once"


def test_attempts_that_a_dead_dispatcher_left_are_told_though_they_ended_before_anyone_listened() -> None:
    story = Story(a_task("lint-7", attempts=2))
    found = tuple(story.player.book.running.values())
    lost = Ending(EndingKind.LOST, "the dispatcher died under it")
    story.player.play(ev.AttemptEnded(AT + 2.5, 1, lost), ev.Woke(AT + 1000))
    assert story.player.book.running, "it runs again"
    (line,) = EventLines(story.player.book, NONE).lost(found)
    assert line.partition(" ")[2] == (
        "action=ended task=lint-7#1@gpu-1 run=nightly-1 kind=code ending=lost took_s=2.5 "
        'detail="the dispatcher died under it"'
    )


def test_a_cancel_a_pause_and_a_width_are_told_with_their_reasons() -> None:
    story = Story(a_task("a"))
    stopped = story.tell(ev.CancelAsked(AT, "nightly-1", "a", "closed by ana elsewhere"))
    assert stopped == [
        'action=cancelled task=a run=nightly-1 why="closed by ana elsewhere"',
        'action=stopping task=a#1@gpu-1 run=nightly-1 kind=code why=cancelled detail="closed by ana elsewhere"',
    ]
    ended = story.tell(ev.AttemptEnded(AT, 1, Ending(EndingKind.CANCELLED)))
    assert "ending=cancelled" in ended[0], "it ended for our reason"
    assert story.tell(ev.HostPaused(AT, "gpu-1", "quota used up", AT + 60)) == [
        'action=paused host=gpu-1 until=2026-11-15T23:21:01Z why="quota used up"'
    ]
    moved = story.log.lines([ev.WidthMoved(AT, "gpu-1", 2, 4, "3 overloads in 5 s", "code")])
    assert moved == ['2026-11-15T23:20:01Z action=width host=gpu-1 kind=code was=4 width=2 why="3 overloads in 5 s"']


def test_a_dispatcher_that_starts_knows_the_attempts_it_finds_in_flight() -> None:
    story = Story(a_task("a"))
    again = EventLines(story.player.book, NONE)
    story.player.play(end := ev.AttemptEnded(AT + 1, 1, Ending(EndingKind.LOST)))
    assert "task=a#1@gpu-1" in again.lines([end])[0]


@pytest.mark.parametrize(
    "detail",
    ["two\nlines", "tab\tand\rreturn", "\x1b[31mred\x1b[0m", 'a "quote" and \\', "a=b", "\u2028\u202e", "\ud800", "\0"],
)
def test_whatever_is_in_a_value_the_line_is_one_line_that_can_be_split(detail: str) -> None:
    text = line(AT, {"action": "x", "detail": detail, "last": "z"}, NONE.redact)
    assert len(text.splitlines()) == 1
    assert text.isprintable()
    names = [part.partition("=")[0] for part in shlex.split(text)[1:]]
    assert names == ["action", "detail", "last"]


@pytest.mark.parametrize("much", ["x" * 100_000, "\x01" * 100_000, '"' * 100_000, "words and " * 10_000])
def test_a_value_is_cut_to_a_bounded_length_and_says_so(much: str) -> None:
    text = line(AT, {"action": much, "last": "z"}, NONE.redact)
    assert len(text) < VALUE_CHARACTERS_MAX + 50
    assert text.endswith('…" last=z')


SECRET = "correct-horse-battery"
ENVIRON = {
    "OPENAI_API_KEY": SECRET,
    "gitlab_token": "tok3n-of-gitlab",
    "DB_PASSWORD": "hunt",
    "PLAIN_NAME": "in-the-config-only",
    "TOKENIZERS_PARALLELISM": "false",
    "HOME": "/home/ana",
}


@pytest.mark.parametrize("value", [SECRET, "tok3n-of-gitlab", "hunt", "in-the-config-only", "of-a-task-itself"])
def test_the_value_of_a_secret_variable_never_appears(value: str) -> None:
    secrets = Secrets(ENVIRON, named=["PLAIN_NAME", "UNSET"])
    story = Story(a_task("a", env={"MY_SECRET": "of-a-task-itself", "LANG": "C"}), secrets=secrets)
    ended = story.tell(ev.AttemptEnded(AT, 1, Ending(EndingKind.FAILED, f"cannot log in with <{value}> false C")))
    assert value not in ended[0]
    assert 'detail="cannot log in with <[redacted]> false C"' in ended[0]


@pytest.mark.parametrize(
    "text",
    [
        "sk-proj-abcdefghijklmnop1234",
        "sk-ant-api03-ABCDEFGHIJKLMNOP_xyz",
        "ghp_abcdefghijklmnopqrstuvwxyz012345",
        "github_pat_11ABCDEFG0abcdefghij_klmnop",
        "hf_abcdefghijklmnopqrstuv",
        "AKIAIOSFODNN7EXAMPLE",
        "AIzaSyA1234567890abcdefghijklmnopqrstuvw",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-def",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_what_has_the_shape_of_a_key_never_appears(text: str) -> None:
    assert Secrets({}).redact(f"said {text}, alas") == "said [redacted], alas"


def test_keys_in_addresses_headers_and_queries_never_appear_but_their_surroundings_do() -> None:
    redact = Secrets({}).redact
    assert redact("GET https://ana:pw12@host/x?key=abcd1234&a=1") == "GET https://[redacted]@host/x?key=[redacted]&a=1"
    assert redact("Authorization: Bearer abcdefgh.123") == "Authorization: Bearer [redacted]"
    ordinary = "task-key done in 3 s; see https://host:80/token and /src/secret.py, risk-averse sk-1"
    assert redact(ordinary) == ordinary


def test_every_line_of_a_key_of_several_lines_is_a_secret() -> None:
    secrets = Secrets({"DEPLOY_KEY": "first line of the key\nsecond line of the key\nend"})
    assert secrets.redact("it says: second line of the key!") == "it says: [redacted]!"


def test_a_batch_is_written_at_once_and_a_quiet_one_not_at_all() -> None:
    written: list[str] = []
    player = Player(a_host())
    log = Log(player.book, NONE, written.append)
    log.recorded([ev.HostRead(AT, "local")])
    log.recorded([ev.RunDrained(AT, "r"), ev.HostResumed(AT, "local")])
    log.say(AT, "serving", url="http://127.0.0.1:8642")
    assert written == [
        "2026-11-15T23:20:01Z action=draining run=r\n2026-11-15T23:20:01Z action=unpaused host=local\n",
        "2026-11-15T23:20:01Z action=serving url=http://127.0.0.1:8642\n",
    ]


def test_every_shape_is_found_also_where_it_is_looked_for_by_its_sign_alone() -> None:
    shaped = [
        "sk-abcdefghijkl-mnop",
        *(f"{name}_abcdefghijklmnop0123" for name in ("ghp", "gho", "ghu", "ghs", "ghr", "hf", "glpat", "npm", "pypi")),
        *(f"{name}-abcdefghijklmnop0123" for name in ("xoxa", "xoxb", "xoxp", "xoxr", "xoxs", "hf", "npm")),
        "github_pat_abcdefghijklmnopqrst",
        "AKIAABCDEFGHIJKLMNOP",
        "ASIAABCDEFGHIJKLMNOP",
        "AIzaabcdefghijklmnopqrstuvwxyz0123",
        "eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl",
        "-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----",
        "http://user:word@host/",
        "Bearer abcdefgh",
        "BASIC dXNlcjpwYXNz",
        *(f"{name}=abcd" for name in ("KEY", "api_token", "Secret", "PASSWORD")),
    ]
    secrets = Secrets({})
    assert [text for text in shaped if secrets.redact(f"it says {text} here") == f"it says {text} here"] == []
