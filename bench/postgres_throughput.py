"""How many no-op tasks a second with every event in PostgreSQL, beside Procrastinate and DBOS on the same server?

The goal: 3 × each, better 20 ×. The server syncs every commit to the disk. Each engine is measured three times, in
turns, each time in a database of its own; the best of each counts.
"""

import os
import secrets
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from noop import measure
from peers import dbos_postgres, procrastinate_postgres
from record import record

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from postgres_server import PostgresServer

QUESTION = "postgres_throughput"
ROUNDS = 3
COUNT = 20_000
COUNT_PEERS = 2_000


def main() -> None:
    # Short, for the path of its socket, and not in /tmp, which may be memory, where syncing costs nothing.
    directory = Path(tempfile.mkdtemp(prefix="mh-pg-", dir="/var/tmp"))
    directory.chmod(0o755)
    server = PostgresServer(directory, fsync=True)
    try:
        best = _measure_all(server)
    finally:
        server.stop(signal.SIGINT)
        shutil.rmtree(directory, ignore_errors=True)
    for name, rate in best.items():
        print(f"{name:<22} {rate:>10,.0f} tasks/s")
        record(QUESTION, {"engine": name, "load": round(os.getloadavg()[0], 1)}, rate, "tasks/s")
    for theirs in ("procrastinate", "dbos"):
        ratio = best["manyhands"] / best[theirs]
        print(f"manyhands / {theirs}: {ratio:.1f} (goal 3){'' if ratio >= 3 else '  MISSED'}")
        record(QUESTION, {"ratio": f"manyhands / {theirs}", "goal": 3.0}, ratio, "ratio")


def _measure_all(server: PostgresServer) -> dict[str, float]:
    def make_database() -> str:
        import psycopg

        name = f"bench_{secrets.token_hex(4)}"
        with psycopg.connect(server.url(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return server.url(database=name)

    engines = {
        "manyhands": lambda: measure(COUNT, "power", store=make_database()).tasks_per_s,
        "procrastinate": lambda: procrastinate_postgres.tasks_per_second(make_database, COUNT_PEERS),
        "dbos": lambda: dbos_postgres.tasks_per_second(make_database, COUNT_PEERS // 2),
    }
    best = dict.fromkeys(engines, 0.0)
    for _ in range(ROUNDS):
        for name, run in engines.items():
            best[name] = max(best[name], run())
    return best


if __name__ == "__main__":
    main()
