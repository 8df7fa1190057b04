"""A console, and receivers that end with the test."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.delivery.receivers import Hook, redis_server
from surfaces.cli.console import console

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
