"""No-op jobs per second through Procrastinate on PostgreSQL.

Tuned in its favour: jobs are deferred in batches of 1,000, the worker is async with a concurrency of 50 in one process
of its own and wakes by NOTIFY, and the better of "queued first" and "while it works" counts.
"""

import asyncio
import subprocess
import sys
import time

CONCURRENCY = 50
BATCH = 1000


def make_app(conninfo: str):  # type: ignore[no-untyped-def]
    import procrastinate

    app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=conninfo))

    @app.task(name="no_op", queue="bench")
    async def no_op(number: int) -> int:
        return number

    return app, no_op


async def _work(conninfo: str) -> None:
    app, _ = make_app(conninfo)
    async with app.open_async():
        print("ready", flush=True)
        await app.run_worker_async(queues=["bench"], concurrency=CONCURRENCY, wait=True, install_signal_handlers=False)


async def _submit(conninfo: str, count: int, queued_first: bool) -> float:
    import psycopg

    app, no_op = make_app(conninfo)
    async with app.open_async(), await psycopg.AsyncConnection.connect(conninfo, autocommit=True) as watching:
        worker = None if queued_first else _start_worker(conninfo)
        began = time.perf_counter()
        for start in range(0, count, BATCH):
            await no_op.batch_defer_async(*({"number": n} for n in range(start, min(count, start + BATCH))))
        worker = worker or _start_worker(conninfo)
        try:
            while await _done(watching) < count:  # noqa: ASYNC110 - another process does it
                await asyncio.sleep(0.02)
            return count / (time.perf_counter() - began)
        finally:
            worker.kill()
            worker.wait()


def _start_worker(conninfo: str) -> "subprocess.Popen[str]":
    worker = subprocess.Popen([sys.executable, __file__, conninfo], stdout=subprocess.PIPE, text=True)
    assert worker.stdout is not None
    worker.stdout.readline()
    return worker


async def _done(connection) -> int:  # type: ignore[no-untyped-def]
    row = await (
        await connection.execute("SELECT count(*) FROM procrastinate_jobs WHERE status = 'succeeded'")
    ).fetchone()
    return int(row[0])


async def _prepare(conninfo: str) -> None:
    app, _ = make_app(conninfo)
    async with app.open_async():
        await app.schema_manager.apply_schema_async()


def tasks_per_second(make_database, count: int = 2000) -> float:  # type: ignore[no-untyped-def]
    best = 0.0
    for queued_first in (True, False):
        conninfo = make_database()
        asyncio.run(_prepare(conninfo))
        best = max(best, asyncio.run(_submit(conninfo, count, queued_first)))
    return best


if __name__ == "__main__":
    asyncio.run(_work(sys.argv[1]))
