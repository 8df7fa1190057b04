"""`engine.map`: order, width, retries, what is stored, and how a map continues."""

import asyncio
import json
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

import manyhands
from manyhands.core.values.task import Task
from manyhands.errors import Conflict, UnknownHost, UsageError
from manyhands.surfaces.python.async_engine import AsyncEngine


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("engine") / "store"


@pytest.fixture
async def engine(store: Path) -> AsyncIterator[AsyncEngine]:
    async with manyhands.Engine(store, hosts=["slow-api"]) as opened:
        yield opened


class Calls(Counter[object]):
    """Counts the calls for each item."""

    async def doubled(self, item: int) -> int:
        self[item] += 1
        await asyncio.sleep(0)
        return 2 * item

    async def all_but_seven(self, item: int) -> int:
        if item == 7:
            self[item] += 1
            raise ValueError("seven is bad")
        return await self.doubled(item)


@dataclass
class City:
    name: str
    population: int


async def city(name: str) -> City:
    return City(name, len(name))


def refused(status: int, **headers: str) -> httpx.HTTPStatusError:
    request = httpx.Request("GET", "http://127.0.0.1/")
    response = httpx.Response(status, headers={name.replace("_", "-"): text for name, text in headers.items()})
    return httpx.HTTPStatusError(f"status {status}", request=request, response=response)


async def test_results_come_in_the_order_of_the_items_and_equal_items_are_called_each(engine: AsyncEngine) -> None:
    calls = Calls()
    assert await engine.map(calls.doubled, [3, 1, 3, 2]) == [6, 2, 6, 4]
    assert calls == {3: 2, 1: 1, 2: 1}
    assert await engine.map(calls.doubled, []) == []


async def test_a_plain_function_runs_in_threads_side_by_side(engine: AsyncEngine) -> None:
    together = threading.Barrier(3, timeout=60)

    def waits_for_two_others(item: str) -> str:
        together.wait()
        return item.upper()

    assert await engine.map(waits_for_two_others, "abc") == ["A", "B", "C"]


async def test_a_named_map_continues_and_repeats_nothing_that_is_done(store: Path) -> None:
    calls = Calls()
    async with manyhands.Engine(store) as engine:
        with pytest.raises(manyhands.MapFailed) as failed:
            await engine.map(calls.all_but_seven, range(10), name="continues")
    assert failed.value.results[:7] == [0, 2, 4, 6, 8, 10, 12]
    assert [failure.item for failure in failed.value.failures] == [7]
    assert isinstance(failed.value.failures[0].__cause__, ValueError)
    assert "1 of 10 failed: 7: ValueError: seven is bad" in failed.value.message
    assert calls[7] == 3, "tried as often as a task is"
    async with manyhands.Engine(store) as engine:
        assert await engine.map(calls.doubled, range(5, 12), name="continues") == [10, 12, 14, 16, 18, 20, 22]
        assert calls == {**dict.fromkeys(range(12), 1), 7: 4}
        await engine.map(calls.doubled, [5], name="continues", again=True)
        assert calls[5] == 2


async def test_a_result_is_stored_and_comes_back_as_the_type_that_the_function_states(store: Path) -> None:
    for _ in range(2):  # made, then read from the store
        async with manyhands.Engine(store) as engine:
            assert await engine.map(city, ["Oslo", "Rome"], name="cities") == [City("Oslo", 4), City("Rome", 4)]


async def test_a_long_result_comes_back_whole(store: Path) -> None:
    async def long(item: int) -> str:
        return "ä" * item

    for _ in range(2):
        async with manyhands.Engine(store) as engine:
            assert await engine.map(long, [100_000], name="long") == ["ä" * 100_000]


async def test_what_cannot_be_stored_fails_at_once(engine: AsyncEngine) -> None:
    calls: list[int] = []

    async def lock(item: int) -> object:
        calls.append(item)
        return threading.Lock()

    with pytest.raises(manyhands.MapFailed, match="its result cannot be stored: a lock is not plain data"):
        await engine.map(lock, [1])
    assert calls == [1]


async def test_a_refusal_with_429_costs_no_attempt_and_is_waited_out(engine: AsyncEngine) -> None:
    calls: list[str] = []

    @manyhands.task(attempts=1, host="slow-api", timeout="1m")
    async def asks(item: str) -> str:
        calls.append(item)
        if len(calls) == 1:
            raise RuntimeError("the client wraps it") from refused(429, retry_after="0.05")
        return item

    results = await engine.map(asks, ["a"])
    assert (results, calls) == (["a"], ["a", "a"])
    assert (results.outcomes[0].attempts, results.outcomes[0].host) == (2, "slow-api")


async def test_a_refused_key_is_not_tried_again(engine: AsyncEngine) -> None:
    calls: list[str] = []

    async def asks(item: str) -> None:
        calls.append(item)
        raise refused(401)

    (failure,) = await engine.map(asks, ["a"], return_exceptions=True)
    assert isinstance(failure, manyhands.ItemFailed)
    assert (failure.outcome.state, calls) == ("failed", ["a"])


async def test_what_is_cancelled_stops_and_continues_later(engine: AsyncEngine) -> None:
    began, stopped = asyncio.Event(), asyncio.Event()

    async def hangs(item: str) -> str:
        if not stopped.is_set():
            began.set()
            try:
                await asyncio.sleep(3600)
            finally:
                stopped.set()
        return item

    mapping = asyncio.create_task(engine.map(hangs, ["a"], name="hangs"))
    await began.wait()
    with pytest.raises(Conflict, match="`hangs` is under way"):
        await engine.map(hangs, ["a"], name="hangs")
    mapping.cancel()
    with pytest.raises(asyncio.CancelledError):
        await mapping
    assert stopped.is_set()
    assert await engine.map(hangs, ["a"], name="hangs") == ["a"]


async def test_what_is_wrong_is_said_before_anything_is_called(engine: AsyncEngine) -> None:
    calls = Calls()

    @manyhands.task(host="slow-apy")
    async def elsewhere(item: int) -> int:
        return await calls.doubled(item)

    with pytest.raises(UnknownHost) as unknown:
        await engine.map(elsewhere, [1])
    assert "slow-api" in unknown.value.hint
    with pytest.raises(UsageError, match="cannot be told from others"):
        await engine.map(str, [threading.Lock()])
    with pytest.raises(UsageError, match="not a name for a run"):
        await engine.map(calls.doubled, [1], name="a/b")
    await engine.submit([{"id": "first", "run": ["true"]}], name="other")
    assert calls == {}


async def test_commands_are_submitted_as_in_a_plan(engine: AsyncEngine) -> None:
    said = ["sh", "-c", "echo said"]
    results = await engine.submit(
        [{"run": said, "claims": {}}, {"run": ["false"], "attempts": 1}], return_exceptions=True
    )
    assert results[0].strip() == "said"
    assert isinstance(results[1], manyhands.ItemFailed)
    with pytest.raises(manyhands.ManyhandsError, match="no host can take task"):
        await engine.prompt(["Say hello"])


def test_an_agent_is_given_work_as_the_config_of_init_describes_it(tmp_path: Path) -> None:
    program = tmp_path / "my-agent"
    program.write_text("#!/bin/sh\necho '# hello' >> README.md\n")
    program.chmod(0o755)
    (tmp_path / "manyhands.toml").write_text(
        f'[hosts.mine]\ntype = "agent"\nagent = {{ run = ["{program}"] }}\nkinds = ["code*"]\n'
    )
    git = ["git", "-C", str(tmp_path), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run([*git, *words], check=True)
    with manyhands.Engine(config=tmp_path / "manyhands.toml") as engine:
        engine.agent(["Say hello in the README.\nNothing else."])
    said = subprocess.run([*git, "log", "--format=%s"], capture_output=True, text=True, check=True)
    assert said.stdout.splitlines() == ["Say hello in the README.", "first"]


def test_an_outcome_is_one_line_in_a_notebook() -> None:
    task = Task("t1", prompt="p" * 5000)
    outcome = manyhands.Outcome(task, "r" * 5000, "done", "", 1, 1.0, "local", 0, 0, None, "t1", "run-1")
    assert repr(outcome) == f"<Outcome task t1: done, '{'r' * 58}…; 1 attempt>"


async def test_rows_are_what_a_table_is_made_from(engine: AsyncEngine) -> None:
    results = await engine.map(city, ["Oslo"], key=lambda name: name)
    (row,) = results.rows()
    assert {name: row[name] for name in ("item", "result", "state", "attempts", "task")} == {
        "item": "Oslo",
        "result": City("Oslo", 4),
        "state": "done",
        "attempts": 1,
        "task": "Oslo",
    }


async def test_code_without_a_loop_has_the_same_engine_even_beside_a_loop(store: Path) -> None:
    calls = Calls()
    with manyhands.Engine(store) as engine:  # this test's own loop is running, as in a notebook
        assert engine.map(calls.doubled, [1, 2]) == [2, 4]
        assert engine.map(len, ["abc", ""]) == [3, 0]
        with pytest.raises(manyhands.ManyhandsError, match=r"(?i)store"):
            manyhands.Engine(store).open()
    with pytest.raises(UsageError, match="this engine is closed"):
        engine.map(len, ["abc"])


CRASHES = """
import os, sys, asyncio, manyhands
log, store, crash_at = sys.argv[1], sys.argv[2], int(sys.argv[3])
async def work(item: int) -> int:
    with open(log, "a") as file:
        file.write(f"{item}\\n")
    if item == crash_at:
        await asyncio.sleep(0.2)  # until others have ended
        os._exit(9)
    return item * item
async def main() -> None:
    async with manyhands.Engine(store) as engine:
        print(await engine.map(work, range(40), name="squares", concurrency=2))
asyncio.run(main())
"""


def test_a_map_continues_after_a_crash(tmp_path: Path) -> None:
    log = tmp_path / "calls"

    def run(crash_at: int) -> subprocess.CompletedProcess[str]:
        argv = [sys.executable, "-c", CRASHES, str(log), str(tmp_path / "store"), str(crash_at)]
        return subprocess.run(argv, capture_output=True, text=True, cwd=tmp_path, check=False, timeout=120)

    assert run(crash_at=30).returncode == 9
    before = Counter(log.read_text().split())
    done = run(crash_at=-1)
    assert json.loads(done.stdout) == [item * item for item in range(40)], done.stderr
    calls = Counter(log.read_text().split())
    assert set(calls) == {str(item) for item in range(40)}
    assert len(before) >= 30
    assert sum(calls.values()) - 40 <= 2, "only what was under way is called again"


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = "import sys, manyhands; print(sorted({'asyncio', 'msgspec', 'rich', 'httpx'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"
