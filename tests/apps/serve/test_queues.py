"""Work from queues that other programs fill: run once, acknowledged after its ending, and safe from `kill -9`."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from apps.serve.at_work import HOLD, hosts, issue_task, serving
from manyhands.apps.serve.queue_backlog import QueueBacklog
from manyhands.sources.queues.redis_stream import RedisStream
from surfaces.cli.console import Console, shell_host

PATIENCE_S = 120.0


def until(condition: Callable[[], Any], what: str) -> Any:
    deadline = time.monotonic() + PATIENCE_S
    while not (found := condition()):
        assert time.monotonic() < deadline, f"waited for {what}"
        time.sleep(0.01)
    return found


@pytest.fixture
def redis(redis_url: str) -> Any:
    from redis import Redis

    with Redis.from_url(redis_url, decode_responses=True) as client:
        yield client


def pending(redis: Any, group: str = "group") -> int:
    return int(redis.xpending("work", group)["pending"])


async def test_entries_run_beside_another_worker_and_bad_ones_are_set_aside(
    tmp_path: Path, redis_url: str, redis: Any
) -> None:
    hosts(tmp_path, 2)
    for number in range(4):
        redis.xadd("work", {"id": f"t{number}", "url": f"http://{number}"})
    redis.xadd("work", {"task": '{"run": ["touch", "bad"]}'})
    redis.xgroup_create("work", "group", id="0")
    [[_, mine]] = redis.xreadgroup("group", "a-worker-of-their-own", {"work": ">"}, count=1)
    queue = RedisStream(redis_url, "work", "group", 600.0)
    backlog = QueueBacklog(queue, issue_task(HOLD), take=2, commands=False)
    async with serving(tmp_path, backlog) as at_work:
        await at_work.until_state("t1", "running")
        assert at_work.state("t3") == "unknown", "two at a time are held, the rest is left to others"
        assert pending(redis) == 3
        at_work.go()
        await at_work.until_state("t3", "done")
        await at_work.until(lambda: pending(redis) == 1, "all but the entry of the other worker are acknowledged")
        assert "entry" in " ".join(at_work.said)
        assert redis.xlen("work:refused") == 1
        redis.xadd("work", {"id": "later", "n": "1"})
        await at_work.until_state("later", "done")
    assert sorted(at_work.ran()) == ["later", "t1", "t2", "t3"]
    assert redis.xpending("work", "group")["consumers"][0]["name"] == "a-worker-of-their-own"
    assert not (tmp_path / "bad").exists()
    assert mine


async def test_an_entry_that_another_has_taken_over_does_not_run(tmp_path: Path, redis_url: str, redis: Any) -> None:
    hosts(tmp_path, 1)
    for id in ("first", "second"):
        redis.xadd("work", {"id": id, "n": "1"})
    backlog = QueueBacklog(RedisStream(redis_url, "work", "group", 600.0), issue_task(HOLD), take=2, commands=False)
    async with serving(tmp_path, backlog) as at_work:
        await at_work.until_state("first", "running")
        await at_work.until_state("second", "ready")
        second = redis.xrange("work")[1][0]
        redis.xclaim("work", "group", "another", 0, [second])
        at_work.go()
        await at_work.until_state("second", "cancelled")
    assert at_work.ran() == ["first"]


#: Says when it begins and ends, and waits in between until it may end.
WORK = "id=$MANYHANDS_TASK; echo $id >> began; while [ ! -e go-$id ]; do sleep 0.01; done; echo $id >> ended"
CONFIG = f"""[store]
durability = "crash"
[[backlogs]]
{{queue}}
run = ["sh", "-c", '{WORK}']
claims = {{{{}}}}
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["redis", "postgres"])
def test_kills_lose_nothing_and_repeat_nothing_that_was_acknowledged(
    console: Console, request: pytest.FixtureRequest, kind: str
) -> None:
    table = _ON[kind](request)
    console.config(shell_host(3) + CONFIG.format(queue=table.config))
    console.env |= table.env
    for number in range(6):
        table.add(f"t{number}")
    # The first life ends one entry and is killed while two others run.
    live = console.start("serve", "--port", "0")
    until(lambda: lines(console, "began") >= 3, "three that run")
    (console.directory / "go-t0").touch()
    until(lambda: table.left() == 5, "an acknowledgement")
    live.process.kill()
    live.process.wait()
    # The second is killed after endings, perhaps before they are acknowledged.
    for number in (1, 2, 3):
        (console.directory / f"go-t{number}").touch()
    live = console.start("serve", "--port", "0")
    until(lambda: "t3" in text(console, "ended"), "the ending of t3")
    live.process.kill()
    live.process.wait()
    for number in (4, 5):
        (console.directory / f"go-t{number}").touch()
    live = console.start("serve", "--port", "0")
    until(lambda: table.left() == 0, "an empty queue")
    live.process.terminate()
    assert live.end().code == 0
    assert text(console, "began").count("t0") == 1, "what was acknowledged is not repeated"
    records = next(iter(console.book().runs.values())).records
    assert {id: str(record.state) for id, record in records.items()} == {f"t{n}": "done" for n in range(6)}


def text(console: Console, name: str) -> str:
    file = console.directory / name
    return file.read_text() if file.exists() else ""


def lines(console: Console, name: str) -> int:
    return len(text(console, name).splitlines())


class _Table:
    def __init__(self, config: str, add: Callable[[str], Any], left: Callable[[], int], **env: str) -> None:
        self.config, self.add, self.left, self.env = config, add, left, env


def _redis_table(request: pytest.FixtureRequest) -> _Table:
    url, client = request.getfixturevalue("redis_url"), request.getfixturevalue("redis")

    def left() -> int:
        read = client.xinfo_groups("work")[0]
        return int(read["pending"]) + int(read["lag"] or 0)

    config = f'redis = {{ url = "{url}", stream = "work", lease = "10m" }}'
    return _Table(config, lambda id: client.xadd("work", {"id": id, "n": "1"}), left)


def _postgres_table(request: pytest.FixtureRequest) -> _Table:
    import psycopg

    from manyhands.sources.queues.postgres_table import TABLE

    url = request.getfixturevalue("postgres_server").url()
    connection = psycopg.connect(url, autocommit=True)
    request.addfinalizer(connection.close)
    connection.execute("DROP TABLE IF EXISTS work")
    connection.execute(TABLE.format("work"))

    def add(id: str) -> None:
        connection.execute("INSERT INTO work (id, task) VALUES (%s, %s)", (id, json.dumps({"prompt": "x"})))

    def left() -> int:
        row = connection.execute("SELECT count(*) FROM work WHERE state IN ('ready', 'taken')").fetchone()
        assert row is not None
        return int(row[0])

    return _Table('postgres = { url_env = "WORK_URL", table = "work" }', add, left, WORK_URL=url)


_ON = {"redis": _redis_table, "postgres": _postgres_table}
