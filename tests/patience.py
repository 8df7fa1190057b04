"""For tests of what could wait without end: it fails instead, long after anything sound is done."""

import signal
from collections.abc import Iterator

import pytest

PATIENCE_S = 60


@pytest.fixture
def patience() -> Iterator[None]:
    def waited(*_: object) -> None:
        raise AssertionError("it waits")

    before = signal.signal(signal.SIGALRM, waited)
    signal.alarm(PATIENCE_S)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
