"""A model worker that cannot start says why to the process that started it, as a value."""

from pathlib import Path

import pytest

from manyhands.errors import HostUnreachable
from manyhands.hosts.executors.worker_process import WorkerProcess


async def test_why_a_worker_did_not_start_is_told_without_reading_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    worker = WorkerProcess("", ["--only", "nope"])
    try:
        with pytest.raises(HostUnreachable, match="the model worker did not start: there is no model `nope`"):
            await worker.up()
    finally:
        await worker.close()
