"""No input makes a reader fall over: a seeded slice of the campaign in `campaign.py`, and its corpus."""

import os
import time
from pathlib import Path

import pytest

from fuzz.fuzzing import CORPUS, Coverage, fuzzed, why_bad
from fuzz.readers import READERS, Reader

IS_SOAK = bool(os.environ.get("MANYHANDS_SOAK"))
#: For each reader; the slice of all of them takes about 20 s of processor time.
INPUTS = int(os.environ.get("MANYHANDS_FUZZ", "20000" if IS_SOAK else "250"))


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_a_reader_answers_or_refuses_whatever_it_is_given(tmp_path: Path, name: str) -> None:
    seed = str(time.time_ns()) if IS_SOAK else "the same"
    done = fuzzed(name, READERS[name], tmp_path, seed, INPUTS)
    assert done.failure is None, done.failure.told(tmp_path)
    assert done.inputs == INPUTS


def test_every_reader_has_a_corpus_and_every_corpus_its_reader() -> None:
    assert {directory.name for directory in CORPUS.iterdir()} == set(READERS)


def _reading(data: bytes, directory: Path) -> None:
    if b"boom" in data:
        raise KeyError(data)
    if b"slow" in data:
        while True:
            pass
    if b"odd" in data:
        raise ValueError


def test_the_harness_finds_what_it_looks_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuzz.fuzzing.CPU_MAX_S", 0.2)
    reader = Reader(_reading, (ValueError,))
    assert why_bad(reader, tmp_path, b"odd") == ""
    assert "KeyError" in why_bad(reader, tmp_path, b"a boom")
    assert "processor time" in why_bad(reader, tmp_path, b"slow")


def test_a_failure_is_made_smaller_and_tells_its_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuzz.fuzzing.mutated", lambda chance, data, others: data + b" a boom " + b"x" * 1000)
    done = fuzzed("beads", Reader(_reading), tmp_path, 1, inputs=10)
    assert done.failure is not None
    assert done.inputs == 1
    assert len(done.failure.data) < 20
    told = done.failure.told(tmp_path)
    assert "tests/fuzz/campaign.py beads --input " in told
    assert Path(told.rpartition(" ")[2]).read_bytes() == done.failure.data


def test_a_line_of_the_package_counts_once(tmp_path: Path) -> None:
    coverage, data = Coverage(), b'{"tokens_in": 5}'
    why_bad(READERS["usage"], tmp_path, data, coverage)
    first = coverage.lines
    why_bad(READERS["usage"], tmp_path, data, coverage)
    assert 0 < first == coverage.lines
    why_bad(READERS["usage"], tmp_path, b"[", coverage)
    assert coverage.lines > first
