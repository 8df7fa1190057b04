"""The values of `env` of tasks, kept out of the journal: it has a keyed fingerprint in the place of each value.

Equal values of a variable have equal fingerprints, so that a change in a plan is noticed. The values are files in the
directory `env` of the store that only their owner can read, with the key of the fingerprints beside them.
"""

import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from manyhands.core.events import Event, TaskEdited, TasksSubmitted
from manyhands.core.values.task import Task
from manyhands.errors import StoreBroken
from manyhands.readers.plain_file import read_plain

DIRECTORY = "env"
_SEALED = "manyhands:sealed:"
_KEY = "key"
_KEY_BYTES = 32
_NO_KEY = bytes(_KEY_BYTES)  # where there is no key yet, there is nothing to compare with
_FINGERPRINT_CHARACTERS = 32
#: Linux takes no longer ones in an environment.
_VALUE_BYTES_MAX = 1 << 20


AnEvent = TypeVar("AnEvent", bound=Event)


class ValueMissing(Exception):
    """The value behind a fingerprint is not kept here."""

    def __init__(self, variable: str) -> None:
        super().__init__(variable)
        self.variable = variable


class EnvVault:
    """The vault of one store. Several processes may use it at once: a value, once there, never changes."""

    def __init__(self, store: Path, *, keeps: bool = True) -> None:
        """With `keeps` off nothing is written: fingerprints are only for comparing."""
        self.directory = store / DIRECTORY
        self._keeps = keeps
        self._key = b""
        self._values: dict[str, str] = {}  # fingerprint → value

    def sealed_event(self, event: AnEvent) -> AnEvent:
        """The event with fingerprints in the place of values. The values are on disk when this returns."""
        if isinstance(event, TaskEdited):
            return replace(event, task=self.sealed(event.task)) if event.task.env else event
        if isinstance(event, TasksSubmitted) and any(task.env for task in event.tasks):
            return replace(event, tasks=tuple(self.sealed_all(event.tasks)))
        return event

    def sealed_all(self, tasks: Iterable[Task]) -> list[Task]:
        return [self.sealed(task) if task.env else task for task in tasks]

    def sealed(self, task: Task) -> Task:
        """Sealing twice is the same as sealing once."""
        if not task.env:
            return task
        return replace(task, env={name: self._sealed_value(name, value) for name, value in task.env.items()})

    def opened(self, task: Task) -> Task:
        """The task with its values, as an attempt needs it. Raises ValueMissing."""
        if not task.env:
            return task
        known = self.known(task.env)
        for name in task.env:
            if name not in known:
                raise ValueMissing(name)
        return replace(task, env=known)

    def known(self, env: Mapping[str, str]) -> dict[str, str]:
        """The variables whose values are known here. Journals of older versions have values, not fingerprints."""
        found = {name: self._value(value) if value.startswith(_SEALED) else value for name, value in env.items()}
        return {name: value for name, value in found.items() if value is not None}

    def _value(self, sealed: str) -> str | None:
        fingerprint = sealed.removeprefix(_SEALED)
        if fingerprint not in self._values:
            if not fingerprint.isalnum():
                return None
            try:
                content = read_plain(self.directory / fingerprint, _VALUE_BYTES_MAX)
            except OSError:
                return None
            self._values[fingerprint] = content.decode("utf-8", "surrogateescape")
        return self._values[fingerprint]

    def _sealed_value(self, name: str, value: str) -> str:
        if value.startswith(_SEALED):
            return value
        import hashlib  # here: most tasks have no `env`
        import hmac

        content = value.encode("utf-8", "surrogateescape")
        digest = hmac.new(self._the_key(), name.encode() + b"\0" + content, hashlib.sha256)
        fingerprint = digest.hexdigest()[:_FINGERPRINT_CHARACTERS]
        # Looked for each time: a person may have removed the values to have them read again from the plan.
        if self._keeps and not (self.directory / fingerprint).exists():
            self._write(fingerprint, content)
        self._values[fingerprint] = value
        return _SEALED + fingerprint

    def _the_key(self) -> bytes:
        if not self._key:
            place = self.directory / _KEY
            if not place.exists():
                if not self._keeps:
                    return _NO_KEY
                self._write(_KEY, os.urandom(_KEY_BYTES))
            try:
                self._key = read_plain(place, _KEY_BYTES)
            except OSError as error:
                raise StoreBroken(
                    f"cannot read the key of `env` in `{place}`: {error.strerror}",
                    f"restore it from a copy, or `rm -r {self.directory}` and give the values again",
                ) from error
        return self._key

    def _write(self, name: str, content: bytes) -> None:
        """Whole or not at all; if another process was first, its file stays."""
        place = self.directory / name
        half = self.directory / f".{name}.{os.getpid()}.{os.urandom(4).hex()}"
        try:
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            try:
                os.write(descriptor, content)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            try:
                os.link(half, place)
            except FileExistsError:
                pass
            finally:
                half.unlink()
        except OSError as error:
            raise StoreBroken(
                f"cannot keep a value of `env` in `{place}`: {error.strerror}", "the store must be writable"
            ) from error


def carry_over(store: Path, other: Path) -> None:
    """Give a copy of a store the values that its journal has only fingerprints of."""
    source, target = store / DIRECTORY, other / DIRECTORY
    if source.is_dir() and not target.exists():
        shutil.copytree(source, target)
        target.chmod(0o700)
