"""No-op tasks per second through Huey with SQLite storage, at the grade that survives kill -9 (its `fsync=False`).

Tuned in its favour: the consumer is a process of its own with one worker (more fight over the one write lock), results
are looked up once each after the last is there, and the better of two arrangements counts.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

TIMEOUT_S = 120.0
#: On the disk the project is on: /tmp may be memory, where syncing costs nothing.
HERE = Path(__file__).parent


def open_queue(file: Path) -> tuple[Any, Callable[[int], Any]]:
    from huey import SqliteHuey

    queue = SqliteHuey("bench", filename=str(file), fsync=False)

    def no_op(number: int) -> int:
        return number

    no_op.__module__ = "bench"  # part of its name in the queue: the same for whoever imports this file
    return queue, queue.task()(no_op)


def consume(file: Path) -> None:
    """Say that we are ready, wait for the word, work until our input ends."""
    queue, _ = open_queue(file)
    consumer = queue.create_consumer(
        workers=1, periodic=False, initial_delay=0.001, max_delay=0.01, check_worker_health=False
    )
    print("ready", flush=True)
    sys.stdin.readline()
    consumer.start()
    sys.stdin.read()
    os._exit(0)


def submit_and_wait(file: Path, count: int, *, queued_first: bool) -> float:
    queue, no_op = open_queue(file)
    command = [sys.executable, __file__, "consume", str(file)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as consumer:
        assert consumer.stdin is not None
        assert consumer.stdout is not None
        consumer.stdout.readline()

        def go() -> None:
            consumer.stdin.write("go\n")
            consumer.stdin.flush()

        try:
            began = time.perf_counter()
            if not queued_first:
                go()
            results = [no_op(number) for number in range(count)]
            if queued_first:
                go()
            while queue.result_count() < count:
                if time.perf_counter() - began > TIMEOUT_S:
                    raise SystemExit(f"error: {queue.result_count()} of {count} tasks done in {TIMEOUT_S:.0f} s")
                time.sleep(0.01)
            assert [result.get(preserve=True) for result in results] == list(range(count))
            return count / (time.perf_counter() - began)
        finally:
            consumer.kill()


def tasks_per_second(count: int = 10_000, directory: Path | None = None) -> float:
    with tempfile.TemporaryDirectory(dir=directory or HERE) as scratch:
        return max(
            submit_and_wait(Path(scratch) / "overlapping.db", count, queued_first=False),
            submit_and_wait(Path(scratch) / "queued-first.db", count, queued_first=True),
        )


if __name__ == "__main__":
    if sys.argv[1:2] == ["consume"]:
        consume(Path(sys.argv[2]))
    else:
        print(f"huey, sqlite: {tasks_per_second():,.0f} tasks/s")
