"""Functions: what they are given, what becomes of what they return or raise, and whose process they run in."""

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

import psutil
import pytest

from hosts.executors.stages import GRACE_S, Stage
from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import DONE, Ending, EndingKind
from manyhands.core.values.task import Task
from manyhands.hosts.executors.python_executor import PythonExecutor, PythonSettings

F = "hosts.executors.functions"


def call(name: str, **fields: object) -> Task:
    args = fields.pop("args", None)
    return Task("a-task", call=f"{F}:{name}", args=args, **fields)  # type: ignore[arg-type]


# What they return


@pytest.mark.parametrize("name", ["echoes", "echoes_async"])
@pytest.mark.parametrize(
    ("value", "result"),
    [
        (7, "7"),
        ("grüße", '"grüße"'),
        ({"a": [1, None, True]}, '{"a": [1, null, true]}'),
        (date(2026, 1, 2), '"2026-01-02"'),
        (float("nan"), "null"),
        ("half a pair \ud800", '"half a pair ?"'),
        (None, ""),
    ],
)
async def test_a_returned_value_is_the_result_as_json(python: Stage, name: str, value: object, result: str) -> None:
    ending = await python.desk.run(call(name, args={"value": value}))
    assert (ending.kind, ending.result) == (EndingKind.DONE, result)
    assert not python.desk.directory(1).exists(), "nothing to keep, no directory"


async def test_what_is_no_json_is_shown_as_python_shows_it(python: Stage) -> None:
    assert (await python.desk.run(call("returns_odd"))).result == "<odd>"


@pytest.mark.parametrize("name", ["echoes", "echoes_async"])
async def test_a_long_result_is_bounded_and_whole_in_a_file(python: Stage, name: str) -> None:
    ending = await python.desk.run(call(name, args={"value": "x" * 100_000}))
    assert len(ending.result) == 32_000
    assert ending.detail == "the result has 100,002 characters; it is in result.json"
    assert json.loads((python.desk.directory(1) / "result.json").read_text()) == "x" * 100_000


@pytest.mark.parametrize("name", ["echoes", "echoes_async"])
async def test_a_check_can_read_the_result(python: Stage, name: str) -> None:
    good = await python.desk.run(call(name, args={"value": [4]}, check=("grep", "4", "{directory}/result.json")))
    assert (good.kind, good.result) == (EndingKind.DONE, "[4]")
    bad = await python.desk.run(
        call(name, args={"value": [5]}, check=("sh", "-c", 'cat "$MANYHANDS_RESULT_FILE"; exit 1'))
    )
    assert (bad.kind, bad.detail, bad.result) == (EndingKind.FAILED, "check failed (exit 1): [5]", "[5]")


async def test_a_function_that_returns_an_awaitable_has_it_awaited(python: Stage) -> None:
    assert (await python.desk.run(call("is_async_inside"))).result == '"awaited"'
    assert (await python.desk.run(call("returns_a_coroutine"))).kind is EndingKind.DONE


async def test_what_has_nothing_to_tell_shares_one_ending(python: Stage) -> None:
    await python.desk.run(call("works_async"))
    assert await python.desk.run(call("works_async")) is DONE


# What they raise


@pytest.mark.parametrize(
    ("name", "detail"),
    [
        ("fails", "ValueError: broken"),
        ("fails_async", "ValueError: broken"),
        ("exits", "SystemExit: 3"),
        ("exits_async", "SystemExit: 3"),
        ("interrupts_async", "KeyboardInterrupt"),
        ("cancels_itself", "CancelledError"),
    ],
)
async def test_an_exception_is_told_by_name_and_never_reaches_the_loop(python: Stage, name: str, detail: str) -> None:
    ending = await python.desk.run(call(name))
    assert (ending.kind, ending.detail, ending.permanent) == (EndingKind.FAILED, detail, False)
    assert (await python.desk.run(call("works_async"))).kind is EndingKind.DONE


@pytest.mark.parametrize("name", ["fails", "fails_async"])
async def test_a_traceback_begins_in_the_function(python: Stage, name: str) -> None:
    tail = (await python.desk.run(call(name))).tail
    assert tail.startswith("Traceback")
    assert tail.splitlines()[1].endswith(f"in {name}")
    assert tail.endswith("ValueError: broken\n")


async def test_a_function_can_say_that_waiting_may_help(python: Stage) -> None:
    ending = await python.desk.run(call("is_overloaded"))
    assert (ending.kind, ending.detail) == (EndingKind.OVERLOADED, "Unavailable: no room just now")


@pytest.mark.parametrize("name", ["echoes", "echoes_async"])
async def test_arguments_that_do_not_fit_fail_for_good(python: Stage, name: str) -> None:
    ending = await python.desk.run(call(name, args={"valeu": 1}))
    assert ending.permanent
    assert "unexpected keyword argument 'valeu'" in ending.detail


@pytest.mark.parametrize(
    ("name", "detail"),
    [
        ("no.such.module:function", "cannot import `no.such.module` of `no.such.module:function`"),
        (f"{F}:nothing", f"`{F}` has no `nothing`"),
        (f"{F}:uuid", f"`{F}:uuid` is not a function but a module"),
        ("just-a-name", "`just-a-name` is not of the form package.module:function"),
    ],
)
async def test_an_unknown_function_fails_for_good(python: Stage, name: str, detail: str) -> None:
    ending = await python.desk.run(Task("t", call=name))
    assert ending.kind is EndingKind.FAILED
    assert ending.permanent
    assert ending.detail.startswith(detail)


async def test_a_module_that_exits_when_loaded_takes_nobody_with_it(python: Stage) -> None:
    (python.workspace / "module_that_exits.py").write_text("import sys\nsys.exit('no')\nasync def f(): ...\n")
    ending = await python.desk.run(Task("t", call="module_that_exits:f"))
    assert ending.permanent
    assert "SystemExit: no" in ending.detail


async def test_modules_of_the_workspace_are_found_and_plain_ones_stay_out_of_the_dispatcher(python: Stage) -> None:
    (python.workspace / "module_of_this_test.py").write_text("import os\ndef where(): return os.getpid()\n")
    ending = await python.desk.run(Task("t", call="module_of_this_test:where"))
    assert int(ending.result) == python.desk.spawned[0][1].pid
    assert "module_of_this_test" not in sys.modules


# What they are given


@pytest.mark.parametrize("name", ["tells_context", "tells_context_async"])
async def test_a_function_that_asks_for_it_is_told_of_its_attempt(python: Stage, name: str) -> None:
    assert json.loads((await python.desk.run(call(name))).result) == [1, "", ""]
    last = Ending(EndingKind.FAILED, "check failed (exit 1)")
    again = await python.desk.run(call(name), 2, last)
    assert json.loads(again.result) == [2, "failed", "check failed (exit 1)"]


async def test_a_worker_has_the_tasks_directory_and_environment_and_the_next_its_own(python: Stage) -> None:
    (python.workspace / "sub").mkdir()
    there = await python.desk.run(call("tells_place", cwd="sub", env={"COLOUR": "red"}))
    assert json.loads(there.result) == [str(python.workspace / "sub"), "red"]
    here = await python.desk.run(call("tells_place"))
    assert json.loads(here.result) == [str(python.workspace), None]
    assert python.desk.spawned[0][1] == python.desk.spawned[1][1], "one worker did both"


async def test_what_a_worker_prints_is_in_the_log(python: Stage) -> None:
    ending = await python.desk.run(call("prints"))
    log = (python.desk.directory(1) / "output.log").read_text()
    assert sorted(log.splitlines()) == ["complained by the function", "said by its child", "said by the function"]
    assert ending.tail == log


async def test_peak_memory_is_the_attempts_own(python: Stage) -> None:
    large = await python.desk.run(call("takes_memory", args={"megabytes": 200}))
    small = await python.desk.run(call("works"))
    assert python.desk.spawned[0][1] == python.desk.spawned[1][1], "one worker did both"
    assert small.memory_bytes < 100 << 20 < 200 << 20 < large.memory_bytes


# Whose process they run in


async def test_a_worker_is_used_again_and_serves_one_at_a_time(python: Stage, tmp_path: Path) -> None:
    one_by_one = [await python.desk.run(call("tells_process")) for _ in range(3)]
    assert len({ending.result for ending in one_by_one}) == 1
    place = tmp_path / "met"
    place.mkdir()
    together = [python.desk.start(call("meets", args={"place": str(place), "count": 3})) for _ in range(3)]
    endings = [await python.desk.ending(attempt) for attempt in together]
    assert len({ending.result for ending in endings}) == 3


@pytest.mark.parametrize("name", ["leaves_a_child", "leaves_a_daemon", "leaves_a_thread"])
async def test_a_worker_that_is_left_with_something_is_not_used_again(python: Stage, name: str) -> None:
    first = await python.desk.run(call(name))
    assert first.kind is EndingKind.DONE
    assert python.desk.alive() == [], "what it left is dead before the ending is told"
    assert not psutil.pid_exists(int(first.result))
    assert (await python.desk.run(call("tells_process"))).result != first.result


@pytest.mark.parametrize(
    ("name", "args", "detail"),
    [
        ("vanishes", {"code": 3}, "exit 3"),
        ("vanishes", {"code": 0}, "its process exited before the function returned"),
        ("crashes", None, "killed by signal 11 (Segmentation fault)"),
    ],
)
async def test_a_function_that_takes_its_process_down_fails_alone(
    python: Stage, name: str, args: dict[str, object] | None, detail: str
) -> None:
    sibling = python.desk.start(call("hangs", args={"flags": str(python.flags)}))
    await python.desk.until(python.running)
    ending = await python.desk.run(call(name, args=args))
    assert (ending.kind, ending.detail) == (EndingKind.FAILED, detail)
    assert python.desk.endings(sibling) == []


async def test_a_worker_that_died_at_rest_is_replaced(python: Stage) -> None:
    pid = int((await python.desk.run(call("tells_process"))).result)
    os.kill(pid, 9)
    await python.desk.until(lambda: psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    assert (await python.desk.run(call("tells_process"))).kind is EndingKind.DONE
    await python.desk.until(lambda: not psutil.pid_exists(pid))


async def test_a_worker_that_dies_before_it_begins_the_call_is_replaced(python: Stage) -> None:
    """It looked alive when it was taken: nobody can know better before it answers."""
    pid = int((await python.desk.run(call("tells_process"))).result)
    os.kill(pid, signal.SIGSTOP)
    attempt = python.desk.start(call("tells_process"))
    await asyncio.sleep(0)
    os.kill(pid, signal.SIGKILL)
    ending = await python.desk.ending(attempt)
    assert ending.kind is EndingKind.DONE, ending
    assert int(ending.result) != pid
    assert not psutil.pid_exists(pid)


async def test_stopping_a_sync_function_does_not_hurt_its_siblings(python: Stage) -> None:
    hangs = call("hangs", args={"flags": str(python.flags)})
    first, second = python.desk.start(hangs), python.desk.start(hangs)
    await python.desk.until(lambda: python.running() == 2)
    python.desk.executor.stop(first)
    assert (await python.desk.ending(first)).kind is EndingKind.CANCELLED
    assert python.desk.endings(second) == []


async def test_an_async_function_that_shrugs_a_stop_off_is_told_again(python: Stage) -> None:
    loop = asyncio.get_running_loop()
    attempt = python.desk.start(call("shrugs_off_one_cancellation", args={"flags": str(python.flags)}))
    await python.desk.until(python.running)
    asked_at = loop.time()
    python.desk.executor.stop(attempt)
    assert (await python.desk.ending(attempt)).kind is EndingKind.CANCELLED
    assert loop.time() - asked_at >= GRACE_S


async def test_an_attempt_of_an_async_no_op_costs_little_more_than_its_task(tmp_path: Path) -> None:
    """Against as many bare tasks of the same loop, in time of this thread alone: others may be busy beside it."""
    count = 5_000
    left = 0
    all_ended = asyncio.Event()

    def ended(attempt: int, ending: Ending) -> None:
        nonlocal left
        left -= 1
        if not left:
            all_ended.set()

    async def bare() -> None:
        ended(0, DONE)

    async def cost_s(start: Callable[[StartAttempt], object]) -> float:
        nonlocal left
        left = count
        all_ended.clear()
        began = time.thread_time()
        for order in orders:
            start(order)
        await all_ended.wait()
        return time.thread_time() - began

    executor = PythonExecutor(PythonSettings(workspace=tmp_path), lambda *_: None, ended)
    loop = asyncio.get_running_loop()
    orders = [StartAttempt(number, "r", call("works_async"), 1, "h") for number in range(count)]
    await cost_s(lambda order: executor.start(order, tmp_path))  # loads the function
    ours_s = min([await cost_s(lambda order: executor.start(order, tmp_path)) for _ in range(5)])
    bare_s = min([await cost_s(lambda _: loop.create_task(bare())) for _ in range(5)])
    await executor.close()
    assert ours_s < 2.5 * bare_s, f"{ours_s / count * 1e6:.1f} µs against {bare_s / count * 1e6:.1f} µs"
