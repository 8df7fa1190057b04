"""The queues of docs/backlogs.md, as the page has them, on a real Redis and a real PostgreSQL."""

import re
import shlex
from pathlib import Path
from typing import Any

import psycopg
import pytest

from postgres_server import PostgresServer
from surfaces.cli.console import Console, shell_host

PAGE = (Path(__file__).parents[3] / "docs" / "backlogs.md").read_text()
SECTION = PAGE.split("## Work from a queue")[1].split("\n## ")[0]
CALLED = """import os

def work(prompt="", **fields):
    with open("called.txt", "a") as file:
        print(os.environ["MANYHANDS_TASK"], file=file)
"""


@pytest.mark.slow
def test_the_stream_and_the_table_of_the_page_are_worked_on_side_by_side(
    console: Console, redis_url: str, postgres_server: PostgresServer
) -> None:
    from redis import Redis

    [config] = re.findall(r"^```toml\n(.*?)^```", SECTION, re.MULTILINE | re.DOTALL)
    hosts = shell_host(2) + '[hosts.functions]\ntype = "python"\nkinds = ["*"]\n'
    console.config(f"{hosts}{config.replace('redis://127.0.0.1:6379/0', redis_url)}")
    console.write("work", '#!/bin/sh\necho "$MANYHANDS_TASK" >> worked.txt\n').chmod(0o755)
    console.write("pipeline.py", CALLED)
    [table] = re.findall(r"^```sql\n(.*?)^```", SECTION, re.MULTILINE | re.DOTALL)
    commands = re.findall(r"^redis-cli (XADD .*)$", SECTION, re.MULTILINE)
    assert len(commands) == 2
    url = postgres_server.url()
    with Redis.from_url(redis_url) as redis, psycopg.connect(url, autocommit=True) as database:
        database.execute("DROP TABLE IF EXISTS work")
        database.execute(table)
        for command in commands:
            redis.execute_command(*shlex.split(command))
        live = console.start("serve", "--port", "0", WORK_URL=url)
        live.wait_until(lambda: _is_worked_off(redis, database), "both queues to be empty")
        assert database.execute("SELECT id, state FROM work").fetchall() == [("doc-1", "done")]
    live.process.terminate()
    assert live.end().code == 0
    runs = console.book().runs
    assert sorted(runs) == ["work-1", "work-2"]
    attempts = [len(record.history) for run in runs.values() for record in run.records.values()]
    assert attempts == [1, 1, 1]
    assert len((console.directory / "worked.txt").read_text().split()) == 2
    assert (console.directory / "called.txt").read_text().split() == ["doc-1"]


def _is_worked_off(redis: Any, database: Any) -> bool:
    groups = redis.xinfo_groups("work")
    is_read = bool(groups) and groups[0]["entries-read"] == 2 and groups[0]["pending"] == 0
    return is_read and database.execute("SELECT count(*) FROM work WHERE state <> 'done'").fetchone() == (0,)
