"""Feeds a reader mutated inputs, and keeps those that reach lines of the package that no input reached before.

The property: each input gives a sound result or an error of a type that the reader is known to raise, within bounds
of processor time and memory. Anything else is a failure, and is made smaller before it is told.
"""

import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import CodeType, FrameType
from typing import Any

import manyhands
from fuzz.mutation import mutated
from fuzz.readers import Reader

CORPUS = Path(__file__).with_name("corpus")
_PACKAGE = str(Path(manyhands.__file__).parent)
#: Of processor time, so that a machine under load changes nothing. The inputs are at most 40 kB.
CPU_MAX_S = 10.0
#: How much more than ever before the process may need for one input.
MEMORY_MAX_BYTES = 512 << 20
#: Inputs that are kept because they reached something new.
_KEPT_MAX = 2_000
_SHRINKING_MAX = 300


class TooSlow(BaseException):
    """Not an Exception: no reader may catch it."""


@dataclass(frozen=True)
class Failure:
    reader: str
    data: bytes
    why: str

    def told(self, directory: Path) -> str:
        """What went wrong, and the one command that does it again."""
        file = directory / f"{self.reader}-{abs(hash(self.data)):x}"
        file.write_bytes(self.data)
        return f"{self.why}\nreplay it: .venv/bin/python tests/fuzz/campaign.py {self.reader} --input {file}"


@dataclass(frozen=True)
class Fuzzed:
    inputs: int
    lines: int  # of the package that were reached
    cpu_s: float
    failure: Failure | None


class Coverage:
    """The lines of the package that have run. A function whose lines have all run is no longer looked at."""

    def __init__(self) -> None:
        self._left: dict[CodeType, set[int] | None] = {}
        self.lines = 0

    @contextmanager
    def watching(self) -> Iterator[None]:
        before = sys.gettrace()
        sys.settrace(self._enter)
        try:
            yield
        finally:
            sys.settrace(before)

    def _enter(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        code = frame.f_code
        try:
            left = self._left[code]
        except KeyError:
            is_ours = code.co_filename.startswith(_PACKAGE)
            left = {line for _, _, line in code.co_lines() if line is not None} if is_ours else None
            self._left[code] = left
        return self._step if left else None

    def _step(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        left = self._left[frame.f_code]
        if left and frame.f_lineno in left:
            left.discard(frame.f_lineno)
            self.lines += 1
        return self._step if left else None


def corpus_of(reader: str) -> list[bytes]:
    return [file.read_bytes() for file in sorted((CORPUS / reader).iterdir())]


def fuzzed(
    name: str, reader: Reader, directory: Path, seed: int | str, inputs: int = sys.maxsize, cpu_s: float = float("inf")
) -> Fuzzed:
    """Try that many inputs, or as many as fit into that much processor time. Ends with the first failure."""
    chance = Random(f"{name} {seed}")
    coverage = Coverage()
    kept = corpus_of(name)
    started_at = time.process_time()
    tried = 0
    for data in kept:
        if why := why_bad(reader, directory, data, coverage):
            return Fuzzed(tried, coverage.lines, 0.0, Failure(name, data, f"{name}, in its corpus: {why}"))
    while tried < inputs and (tried % 16 or time.process_time() - started_at < cpu_s):
        data = mutated(chance, chance.choice(kept), kept)
        before = coverage.lines
        tried += 1
        if why := why_bad(reader, directory, data, coverage):
            small = _smaller(reader, directory, data)
            failure = Failure(name, small, f"{name}, input {tried} of seed {seed}: {why}")
            return Fuzzed(tried, coverage.lines, time.process_time() - started_at, failure)
        if coverage.lines > before and len(kept) < _KEPT_MAX:
            kept.append(data)
    return Fuzzed(tried, coverage.lines, time.process_time() - started_at, None)


def why_bad(reader: Reader, directory: Path, data: bytes, coverage: Coverage | None = None) -> str:
    """What the reader did wrong with this input; "": nothing."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    watching = coverage or Coverage()
    try:
        with _within(CPU_MAX_S), watching.watching():
            reader.read(data, directory)
    except reader.errors:
        pass
    except TooSlow:
        return f"it needed more than {CPU_MAX_S:g} s of processor time"
    except Exception as error:
        return "".join(traceback.format_exception(error, limit=-4))[-3_000:]
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10
    return f"it needed {grown:,} bytes of memory" if grown > MEMORY_MAX_BYTES else ""


@contextmanager
def _within(cpu_s: float) -> Iterator[None]:
    def too_slow(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGPROF, too_slow)
    signal.setitimer(signal.ITIMER_PROF, cpu_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def _smaller(reader: Reader, directory: Path, data: bytes) -> bytes:
    """A shorter input that fails too: halves, quarters and so on are left out while it still fails."""
    tries, size = 0, len(data) // 2
    while size and tries < _SHRINKING_MAX:
        for at in range(0, len(data), size):
            tries += 1
            without = data[:at] + data[at + size :]
            if tries < _SHRINKING_MAX and why_bad(reader, directory, without):
                data = without
                break
        else:
            size //= 2
    return data
