"""Where an eval keeps its files: `STORE/evals/ID/`. Each file is replaced as a whole or not at all."""

import os
from pathlib import Path
from typing import TypeVar

import msgspec

from manyhands.apps.evals.spec.ordering import Trial
from manyhands.readers.plain_file import open_plain, read_plain
from manyhands.readers.text import BYTES_MAX

T = TypeVar("T")


class EvalLayout:
    def __init__(self, store: Path, eval_id: str) -> None:
        self.directory = store.absolute() / "evals" / eval_id
        self.manifest = self.directory / "eval.json"
        self.record = self.directory / "record.json"
        self.eval_id = eval_id

    def case(self, case: str) -> Path:
        """The files that trials of the case start with, as they were when the eval began."""
        return self.directory / "cases" / case

    def trial(self, trial: Trial) -> Path:
        return self.directory / "trials" / trial.arm / trial.case / str(trial.replication)

    def workspace(self, trial: Trial) -> Path:
        return self.trial(trial) / "workspace"

    def before(self, trial: Trial, session: int) -> Path:
        """What a session begins with: the files of the case, or what the session before it left."""
        return self.case(trial.case) if session == 1 else self.trial(trial) / f"before-{session}"

    def scores(self, trial: Trial) -> Path:
        return self.trial(trial) / "scores.json"

    def heartbeat(self, trial: Trial) -> Path:
        return self.trial(trial) / "heartbeat.json"


def write_whole(path: Path, value: object, durable: bool = True) -> None:
    """Writes JSON. With `durable` the file survives a power cut."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.new")
    with open(open_plain(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb") as file:
        file.write(msgspec.json.encode(value))
        if durable:
            file.flush()
            os.fsync(file.fileno())
    beside.replace(path)


def read_whole(path: Path, kind: type[T]) -> T | None:
    """None if there is no such file, or if it cannot be read. The caller then makes it again."""
    try:
        return msgspec.json.decode(read_plain(path, BYTES_MAX), type=kind)
    except (OSError, ValueError, RecursionError):
        return None
