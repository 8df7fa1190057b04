"""What a command or function says of how it went is in its ending, whatever it writes."""

import math
import os
import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from hosts.executors.desk import Desk
from hosts.executors.stages import Stage
from manyhands.core.values.ending import DONE, Ending, EndingKind
from manyhands.core.values.task import Task
from manyhands.hosts.executors.python_executor import PythonExecutor, PythonSettings
from manyhands.hosts.executors.said_ending import ENDING_FILE, as_said
from manyhands.hosts.executors.shell_executor import ShellExecutor, ShellSettings

NOW = 1_800_000_000.0


async def ending_of(stage: Stage, said: str, *, rest: str = "", check: tuple[str, ...] = ()) -> Ending:
    script = f'printf %s "$1" > "$MANYHANDS_ENDING_FILE"; {rest}'
    return await stage.desk.run(Task("t", run=("sh", "-c", script, "sh", said), check=check))


async def test_a_command_says_that_its_quota_is_used_up_and_when_it_comes_back(shell: Stage) -> None:
    said = (
        f'{{"quota": true, "until": {int((time.time() + 3600) * 1000)}, "detail": "five-hour limit", "tokens_in": 7}}'
    )
    ending = await ending_of(shell, said, rest="exit 1")
    assert (ending.kind, ending.quota, ending.detail) == (EndingKind.OVERLOADED, True, "five-hour limit")
    assert ending.retry_after_s is not None
    assert 3000 < ending.retry_after_s <= 3600
    assert (ending.exit_code, ending.tokens_in) == (1, 7)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ('{"overloaded": true}', {"kind": EndingKind.OVERLOADED}),
        ('{"overloaded": true, "retry_after": 2.5}', {"kind": EndingKind.OVERLOADED, "retry_after_s": 2.5}),
        ('{"rate_limited": true}', {"kind": EndingKind.OVERLOADED, "rate_limited": True}),
        ('{"quota": true, "rate_limited": true}', {"quota": True, "rate_limited": False}),
        ('{"until": "2027-01-15T09:00:00Z"}', {"kind": EndingKind.OVERLOADED, "retry_after_s": 3600.0}),
        ('{"permanent": true, "detail": "no such model"}', {"kind": EndingKind.FAILED, "permanent": True}),
        ('{"needs_person": true}', {"kind": EndingKind.FAILED, "needs_person": True, "permanent": False}),
        ('{"overloaded": true, "needs_person": true}', {"kind": EndingKind.OVERLOADED, "needs_person": True}),
        ('{"detail": "all 12 tests pass"}', {"kind": EndingKind.DONE, "detail": "all 12 tests pass"}),
        ('{"overloaded": false, "other": [1]}', {"kind": EndingKind.DONE}),
        ("{}", {"kind": EndingKind.DONE}),
    ],
)
def test_each_word_of_the_contract(tmp_path: Path, said: str, expected: dict[str, object]) -> None:
    (tmp_path / ENDING_FILE).write_text(said)
    ending = as_said(DONE, tmp_path, tmp_path / "output.log", 1_800_000_000.0)
    assert {name: getattr(ending, name) for name in expected} == expected


async def test_exit_75_asks_to_be_tried_again_later(shell: Stage) -> None:
    ending = await shell.desk.run(Task("t", run=("sh", "-c", "echo no room; exit 75")))
    assert ending.kind is EndingKind.OVERLOADED
    assert ending.detail == "exit 75, which means try again later: no room"
    permanent = await ending_of(shell, '{"permanent": true}', rest="exit 75")
    assert (permanent.kind, permanent.permanent) == (EndingKind.FAILED, True)


async def test_a_stopped_attempt_is_stopped_whatever_it_wrote(tmp_path: Path) -> None:
    (tmp_path / ENDING_FILE).write_text('{"overloaded": true}')
    stopped = Ending(EndingKind.CANCELLED, "stopped")
    assert as_said(stopped, tmp_path, tmp_path / "output.log", NOW) == stopped


async def test_a_check_is_told_no_file(shell: Stage) -> None:
    check = ("sh", "-c", '[ -z "$MANYHANDS_ENDING_FILE" ]')
    assert (await ending_of(shell, "{}", check=check)).kind is EndingKind.DONE


async def test_what_a_program_only_prints_counts_where_the_host_has_a_pattern(shell: Stage, tmp_path: Path) -> None:
    task = Task("t", run=("sh", "-c", "echo Rate limited, try later; echo bye"))
    assert (await shell.desk.run(task)).kind is EndingKind.DONE
    place = ShellSettings(workspace=shell.workspace, overloaded="(?i)rate.limited", grace_s=0.5)
    desk = Desk(lambda s, e: ShellExecutor(place, s, e), tmp_path / "others", place.journal)
    ending = await desk.run(task)
    assert (ending.kind, ending.detail) == (EndingKind.OVERLOADED, "Rate limited, try later")
    assert (await desk.run(replace(task, run=("echo", "fine")))).kind is EndingKind.DONE
    await desk.executor.close()


async def test_a_function_says_it_in_the_same_ways(python: Stage) -> None:
    said = await python.desk.run(Task("t", call="hosts.executors.functions:writes_ending"))
    assert (said.kind, said.rate_limited, said.retry_after_s) == (EndingKind.OVERLOADED, True, 4.0)
    left = await python.desk.run(Task("t", call="hosts.executors.functions:exits_75"))
    assert left.kind is EndingKind.OVERLOADED
    after = await python.desk.run(Task("t", call="hosts.executors.functions:works"))
    assert after.kind is EndingKind.DONE


async def test_an_async_function_says_it_in_the_directory_of_its_context(python: Stage) -> None:
    task = Task("t", call="hosts.executors.functions:writes_ending_async")
    said = await python.desk.run(replace(task, args={"said": '{"quota": true, "retry_after": 4}'}))
    assert (said.kind, said.quota, said.retry_after_s, said.tokens_in) == (EndingKind.OVERLOADED, True, 4.0, 7)
    fine = await python.desk.run(replace(task, args={"said": '{"detail": "all is well"}'}))
    assert (fine.kind, fine.detail) == (EndingKind.DONE, "all is well")
    unusable = await python.desk.run(replace(task, args={"said": "["}))
    assert (unusable.kind, unusable.tokens_in) == (EndingKind.DONE, 7)


async def test_what_a_function_only_prints_counts_where_the_host_has_a_pattern(python: Stage, tmp_path: Path) -> None:
    task = Task("t", call="hosts.executors.functions:says", args={"words": "Rate limited, try later"})
    assert (await python.desk.run(task)).kind is EndingKind.DONE
    place = PythonSettings(workspace=python.workspace, overloaded="(?i)rate.limited", grace_s=0.5)
    desk = Desk(lambda s, e: PythonExecutor(place, s, e), tmp_path / "others", place.journal)
    ending = await desk.run(task)
    assert (ending.kind, ending.detail) == (EndingKind.OVERLOADED, "Rate limited, try later")
    assert (await desk.run(replace(task, args={"words": "fine"}))).kind is EndingKind.DONE
    await desk.executor.close()


def _link(path: Path) -> None:
    (path.parent / "elsewhere").write_text('{"overloaded": true}')
    path.symlink_to(path.parent / "elsewhere")


@pytest.mark.parametrize(
    "make",
    [_link, os.mkfifo, Path.mkdir, lambda path: path.symlink_to("/dev/zero"), lambda path: path.symlink_to(path)],
    ids=["link", "pipe", "directory", "device", "circle"],
)
def test_what_is_no_file_is_left_out_and_said(tmp_path: Path, make: object) -> None:
    log = tmp_path / "output.log"
    log.write_text("before\n")
    assert callable(make)
    make(tmp_path / ENDING_FILE)
    assert as_said(DONE, tmp_path, log, NOW) == DONE
    assert re.match(r"before\nmanyhands: ending\.json is left out of account: ", log.read_text())


def test_a_log_that_became_a_pipe_does_not_block(tmp_path: Path) -> None:
    (tmp_path / ENDING_FILE).write_text("[")
    os.mkfifo(tmp_path / "output.log")
    assert as_said(DONE, tmp_path, tmp_path / "output.log", NOW) == DONE


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
FIELDS = ["overloaded", "retry_after", "until", "quota", "rate_limited", "permanent", "needs_person", "detail", "cost"]


@settings(deadline=None)
@given(st.binary(max_size=200) | st.dictionaries(st.sampled_from(FIELDS), json_values).map(lambda d: _encoded(d)))
def test_no_content_ever_raises_or_waits_for_ever(content: bytes) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as made:
        directory = Path(made)
        (directory / ENDING_FILE).write_bytes(content)
        ending = as_said(DONE, directory, directory / "output.log", NOW)
    wait_s = ending.retry_after_s
    assert wait_s is None or (math.isfinite(wait_s) and 0 <= wait_s <= 40 * 86_400)
    assert "\n" not in ending.detail


def _encoded(said: dict[str, object]) -> bytes:
    import json

    return json.dumps(said).encode(errors="replace")


def test_deep_nesting_is_left_out(tmp_path: Path) -> None:
    (tmp_path / ENDING_FILE).write_text('{"a": ' * 100_000)
    assert as_said(DONE, tmp_path, tmp_path / "output.log", NOW) == DONE
