"""A real Redis for the tests: the machine's own program, on loopback, with nothing written to the disk."""

import contextlib
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest


@contextlib.contextmanager
def redis_server(directory: Path) -> Iterator[str]:
    program = shutil.which("redis-server")
    assert program is not None
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(directory)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 20
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            assert time.monotonic() < deadline, "redis-server did not come up"
            time.sleep(0.02)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="session")
def redis_server_url() -> Iterator[str]:
    if shutil.which("redis-server") is None:
        pytest.skip("no redis-server on this machine (Debian: redis-server)")
    pytest.importorskip("redis", reason="needs redis: pip install 'manyhands[routes]'")
    with tempfile.TemporaryDirectory(prefix="mh-redis-") as directory, redis_server(Path(directory)) as url:
        yield url


@pytest.fixture
def redis_url(redis_server_url: str) -> str:
    """Of a server that holds nothing."""
    import redis

    with redis.Redis.from_url(redis_server_url) as client:
        client.flushall()
    return redis_server_url
