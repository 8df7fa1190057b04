"""What was learned survives the process, and a damaged file does no harm."""

import os
from pathlib import Path

from manyhands.worker.memory.fitting import SeenBatch
from manyhands.worker.memory.learned_store import Bound, Learned, LearnedStore

LEARNED = {
    "minilm@fp32": Learned(100, 0.5, (SeenBatch(8, 64, 1e6),), (SeenBatch(8, 64, 0.01),), (Bound(32, 256, 1000),)),
    "other": Learned(),
}


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    store = LearnedStore(tmp_path / "deep" / "worker.json")
    assert store.load() == {}
    store.save(LEARNED)
    assert LearnedStore(store.path).load() == LEARNED
    assert store.trouble == ""
    assert os.listdir(store.path.parent) == ["worker.json"]


def test_a_damaged_file_is_said_and_begun_anew(tmp_path: Path) -> None:
    store = LearnedStore(tmp_path / "worker.json")
    store.save(LEARNED)
    store.path.write_bytes(store.path.read_bytes()[:40])
    assert store.load() == {}
    assert str(store.path) in store.trouble
    store.save(LEARNED)
    assert store.load() == LEARNED


def test_a_place_that_cannot_be_written_is_said_and_harmless(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = LearnedStore(tmp_path / "file" / "worker.json")
    store.save(LEARNED)
    assert "worker.json" in store.trouble
