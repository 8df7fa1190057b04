"""A console, and receivers that end with the test."""

from collections.abc import Iterator

import pytest

from engine.delivery.receivers import Hook
from surfaces.cli.console import console

__all__ = ["console"]


@pytest.fixture
def hook() -> Iterator[Hook]:
    hook = Hook()
    yield hook
    hook.close()
