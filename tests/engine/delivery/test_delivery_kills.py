"""A dispatcher killed at random while it delivers to three sinks: every result arrives, and by its key exactly once."""

import asyncio
import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from engine.delivery.receivers import Hook
from journal_kills import gate, last_event, open_gate, wait_for_event
from surfaces.cli.console import Console, sh, shell_host

KILLS = 100 if os.environ.get("MANYHANDS_SOAK") else 3
TASKS_OF_A_LIFE = 20  # those of the next life wait: a run that has finished would begin anew
TASKS = TASKS_OF_A_LIFE * (KILLS + 1)


@pytest.mark.slow
@pytest.mark.campaign("`kill -9` while results are delivered", KILLS, "kills")
def test_kills_lose_no_result_and_keys_make_each_one_single(
    console: Console, hook: Hook, postgres_server: Any, redis_url: str
) -> None:
    console.config(
        shell_host(2)
        + "[routes.search]\ntries = 1000\n"
        + '[[routes.search.sinks]]\ntype = "file"\npath = "results.jsonl"\n'
        + f'[[routes.search.sinks]]\ntype = "webhook"\nurl = "{hook.url}"\n'
        + f'[[routes.search.sinks]]\ntype = "redis"\nurl = "{redis_url}"\nstream = "killed"\n'
        + '[[routes.search.sinks]]\ntype = "postgres"\nurl_env = "RESULTS_URL"\ntable = "killed"\n'
    )
    url = postgres_server.url()
    console.plan(
        [sh(f"t{n}", f"{gate(console.directory, n // TASKS_OF_A_LIFE)}; echo {n}", app="search") for n in range(TASKS)]
    )
    draw = random.Random(20261116)
    file = console.directory / "results.jsonl"
    for life in range(KILLS):
        hook.answers = [draw.choice([200, 503]) for _ in range(5)]
        open_gate(console.directory, life)
        # Each task of this life has three events at least: it starts, it is spawned, it ends.
        number, delivered = last_event(console.store) + draw.randrange(3 * TASKS_OF_A_LIFE), _size(file)
        live = console.start("run", "plan.jsonl", RESULTS_URL=url)
        if draw.random() < 0.7:  # while it delivers; else likely while it starts or recovers
            live.wait_until(lambda delivered=delivered: _size(file) > delivered, "a delivery")
        assert wait_for_event(live.process, console.store, number)
        live.process.kill()
        live.process.wait()
    hook.answers = []
    open_gate(console.directory, KILLS)
    live = console.start("run", "plan.jsonl", RESULTS_URL=url)
    assert live.process.wait(60 + TASKS) == 0, live.err
    lines = file.read_text().splitlines()
    in_file = [json.loads(line) for line in lines if _is_whole(line)]
    wanted = {f"t{n}" for n in range(TASKS)}
    for letters in (in_file, hook.letters, asyncio.run(_in_redis(redis_url))):
        by_key = {letter["key"]: letter["task"] for letter in letters}
        assert sorted(by_key.values()) == sorted(wanted), "each result has one key, and each key one result"
        print(f"{KILLS} kills: {len(letters)} letters of {TASKS} results")
    assert asyncio.run(_in_postgres(url)) == sorted(wanted), "where the receiver keeps keys, once"


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def _is_whole(line: str) -> bool:
    try:
        return bool(json.loads(line))
    except ValueError:
        return False  # a write that a kill cut short; the result came again


async def _in_redis(url: str) -> list[dict[str, Any]]:
    import redis.asyncio as redis

    async with redis.from_url(url) as client:
        return [json.loads(fields[b"letter"]) for _, fields in await client.xrange("killed")]


async def _in_postgres(url: str) -> list[str]:
    import psycopg

    async with await psycopg.AsyncConnection.connect(url) as connection:
        rows = await (await connection.execute("SELECT task FROM killed")).fetchall()
        return sorted(row[0] for row in rows)
