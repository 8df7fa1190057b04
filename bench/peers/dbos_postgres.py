"""No-op workflows per second through DBOS on PostgreSQL, by its queue and by starting them directly; the better counts.

Run as a program, with the database's URL, the number of workflows and the way: prints workflows per second.
"""

import subprocess
import sys
import time


def _measure(url: str, count: int, way: str) -> float:
    from dbos import DBOS

    DBOS(config={"name": "bench", "system_database_url": url, "log_level": "ERROR", "run_admin_server": False})

    @DBOS.workflow()
    def no_op(number: int) -> int:
        return number

    DBOS.launch()
    try:
        DBOS.register_queue("bench", worker_concurrency=100, polling_interval_sec=0.05)
        no_op(0)
        began = time.perf_counter()
        if way == "queue":
            handles = [DBOS.enqueue_workflow("bench", no_op, number) for number in range(count)]
        else:
            handles = [DBOS.start_workflow(no_op, number) for number in range(count)]
        assert [handle.get_result() for handle in handles] == list(range(count))
        return count / (time.perf_counter() - began)
    finally:
        DBOS.destroy()


def tasks_per_second(make_database, count: int = 1000) -> float:  # type: ignore[no-untyped-def]
    best = 0.0
    for way in ("queue", "start"):
        url = make_database()
        done = subprocess.run(
            [sys.executable, __file__, url, str(count), way], capture_output=True, text=True, check=False, timeout=600
        )
        if done.returncode:
            raise SystemExit(f"error: DBOS by {way}: {done.stderr[-2000:]}")
        best = max(best, float(done.stdout.split()[-1]))
    return best


if __name__ == "__main__":
    print(_measure(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
