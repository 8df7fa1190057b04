"""A console, and receivers that end with the test."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.console import console
from routes.receivers import Hook, redis_server

__all__ = ["console"]


@pytest.fixture
def hook() -> Iterator[Hook]:
    hook = Hook()
    yield hook
    hook.close()


@pytest.fixture
def redis_url(tmp_path: Path) -> Iterator[str]:
    if shutil.which("redis-server") is None:
        pytest.skip("no redis-server on this machine (Debian: redis-server)")
    with redis_server(tmp_path) as url:
        yield url
