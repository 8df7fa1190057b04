"""What every queue promises (manyhands/sources/queues/work_queue.py), on a real Redis and a real PostgreSQL."""

import json
import secrets
import time
from collections.abc import Callable
from typing import Any

import pytest

from manyhands.core.values.task import Task
from manyhands.sources.queues.entry_tasks import BadEntry, task_of
from manyhands.sources.queues.postgres_table import PostgresTable
from manyhands.sources.queues.redis_stream import RedisStream
from manyhands.sources.queues.work_queue import QueueDown, QueueEntry, Settlement, WorkQueue

LONG_S = 600.0
SHORT_S = 0.2


class QueueStage:
    """One queue, and clients of it with leases of their own."""

    def __init__(self, connect: Callable[[float], WorkQueue], add: Callable[[dict[str, Any]], str]) -> None:
        self.connect = connect
        self.add = add


@pytest.fixture(params=["redis", "postgres"])
def stage(request: pytest.FixtureRequest) -> QueueStage:
    return {"redis": _on_redis, "postgres": _on_postgres}[request.param](request)


def _on_redis(request: pytest.FixtureRequest) -> QueueStage:
    import redis

    url = request.getfixturevalue("redis_url")
    client = redis.Redis.from_url(url)
    request.addfinalizer(client.close)

    def connect(lease_s: float) -> WorkQueue:
        queue = RedisStream(url, "work", "group", lease_s)
        request.addfinalizer(queue.close)
        return queue

    return QueueStage(connect, lambda task: client.xadd("work", {"task": json.dumps(task)}).decode())


def _on_postgres(request: pytest.FixtureRequest) -> QueueStage:
    import psycopg

    url = request.getfixturevalue("postgres_server").url()
    table = f"work_{secrets.token_hex(4)}"

    def connect(lease_s: float) -> WorkQueue:
        queue = PostgresTable(url, table, lease_s)
        request.addfinalizer(queue.close)
        return queue

    connect(LONG_S).hold("nobody", 0)  # makes the table
    added: list[int] = []

    def add(task: dict[str, Any]) -> str:
        added.append(1)
        with psycopg.connect(url) as connection:
            connection.execute(f"INSERT INTO {table} (id, task) VALUES (%s, %s)", (f"e{len(added)}", json.dumps(task)))
        return f"e{len(added)}"

    return QueueStage(connect, add)


def ids(entries: Any) -> list[str]:
    return [entry.id for entry in entries]


def until(ask: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + 60
    while not (found := ask()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found


def test_entries_are_shared_out_and_no_two_holders_have_one(stage: QueueStage) -> None:
    added = [stage.add({"prompt": str(number)}) for number in range(5)]
    one, other = stage.connect(LONG_S), stage.connect(LONG_S)
    first = ids(one.hold("one", 2))
    assert first == added[:2]
    assert ids(other.hold("other", 10)) == added[2:]
    assert ids(one.hold("one", 10)) == first, "what it holds is told again, and nothing is left to take"


def test_an_entry_that_is_settled_never_comes_back(stage: QueueStage) -> None:
    done, failed = stage.add({}), stage.add({})
    queue = stage.connect(LONG_S)
    queue.hold("one", 2)
    assert queue.settle("one", [Settlement(done, "done", "", "an\0swer"), Settlement(failed, "failed", "why")]) == {
        done,
        failed,
    }
    assert queue.settle("one", [Settlement(done, "done")]) == set()
    for holder in ("one", "other"):
        assert ids(stage.connect(0.001).hold(holder, 10)) == []


def test_the_next_life_of_a_holder_has_what_the_last_one_held(stage: QueueStage) -> None:
    added = [stage.add({"prompt": "a"}), stage.add({"prompt": "b"})]
    stage.connect(LONG_S).hold("one", 1)
    assert ids(stage.connect(LONG_S).hold("one", 0)) == added[:1]


def test_an_entry_of_a_holder_that_is_not_heard_of_goes_to_another(stage: QueueStage) -> None:
    entry = stage.add({"prompt": "a"})
    dead, other = stage.connect(SHORT_S), stage.connect(SHORT_S)
    assert ids(dead.hold("dead", 1)) == [entry]
    assert ids(until(lambda: other.hold("other", 1))) == [entry]
    assert dead.renew("dead", [entry]) == set()
    assert dead.settle("dead", [Settlement(entry, "done")]) == set(), "it is not the dead holder's any more"
    assert other.settle("other", [Settlement(entry, "done")]) == {entry}


def test_a_lease_that_is_renewed_does_not_end(stage: QueueStage) -> None:
    entry = stage.add({"prompt": "a"})
    one, other = stage.connect(LONG_S), stage.connect(LONG_S)
    one.hold("one", 1)
    assert one.renew("one", [entry, "0-1"]) == {entry}
    assert ids(other.hold("other", 1)) == []


def test_what_is_given_back_is_free_at_once(stage: QueueStage) -> None:
    entry = stage.add({"prompt": "a"})
    one, other = stage.connect(LONG_S), stage.connect(LONG_S)
    one.hold("one", 1)
    one.give_back("one", [entry])
    assert ids(other.hold("other", 1)) == [entry]


def test_a_refused_entry_is_put_aside(stage: QueueStage) -> None:
    entry = stage.add({"prompt": "a"})
    queue = stage.connect(LONG_S)
    queue.hold("one", 1)
    queue.refuse("one", entry, "it makes no sense")
    assert ids(queue.hold("one", 1)) == []
    assert ids(stage.connect(0.001).hold("other", 1)) == []


def test_a_server_that_is_away_is_told_as_such() -> None:
    with pytest.raises(QueueDown, match="Redis stream `work`"):
        RedisStream("redis://127.0.0.1:1/0", "work", "group", 1.0).hold("one", 1)
    with pytest.raises(QueueDown, match="table `work`"):
        PostgresTable("postgresql://nobody:hunter2@127.0.0.1:1/x", "work", 1.0).hold("one", 1)


# What an entry says


LIKE = Task("", run=("work", "{prompt}"), attempts=2)


def test_an_entry_has_the_fields_of_a_task_and_the_backlog_has_the_rest() -> None:
    task = task_of(QueueEntry("7-0", {"task": {"prompt": "go", "priority": 0}}), LIKE, "work", commands=False)
    assert (task.id, task.kind, task.run, task.prompt, task.priority) == ("7-0", "shell", ("work", "{prompt}"), "go", 0)
    named = task_of(QueueEntry("7-0", {"task": '{"id": "a", "prompt": "go", "save": "out/{id}"}'}), LIKE, "work", False)
    assert (named.id, named.save) == ("a", "out/a")


def test_a_program_that_knows_nothing_of_manyhands_can_feed_it() -> None:
    entry = QueueEntry("7-0", {"url": "http://x", "id": "doc-1"})
    prompt = task_of(entry, LIKE, "work", commands=False)
    assert (prompt.id, json.loads(prompt.prompt)) == ("doc-1", {"url": "http://x"})
    call = task_of(entry, Task("", call="m:f", args={"n": 1}), "work", commands=False)
    assert call.args == {"n": 1, "url": "http://x"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"task": "{"}, "is not JSON"),
        ({"task": "[1]"}, "must be a JSON object"),
        ({"task": {"prompt": "x", "run": ["rm", "-r", "/"]}}, "needs `commands = true`"),
        ({"task": {"prompt": "x", "needs": ["y"]}}, "have no such field"),
        ({"task": {"prompt": "x", "priority": 9}}, "must be 0, 1, 2, 3 or 4"),
        ({"task": {"prompt": "x", "save": "../x"}}, "leaves the workspace"),
    ],
)
def test_bad_entries_are_refused_with_the_reason(content: dict[str, Any], message: str) -> None:
    with pytest.raises(BadEntry, match=message):
        task_of(QueueEntry("1-0", content), LIKE, "work", commands=False)
