"""What is written below the workspace stays there, whatever a task has put on the way."""

import os
from pathlib import Path

import pytest

from manyhands.hosts.artefacts.artefact_files import COPIES
from manyhands.hosts.artefacts.kept_files import CannotKeep, keep_files
from manyhands.hosts.artefacts.workspace_files import replace_file


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    place = tmp_path / "outside"
    place.mkdir()
    return place


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = tmp_path / "workspace"
    place.mkdir()
    return place


def test_a_file_is_made_with_its_directories_and_replaced_whole(root: Path) -> None:
    replace_file(root, "docs/deep/a.md", [b"old"])
    before = (root / "docs/deep/a.md").open("rb")
    replace_file(root, "docs/deep/a.md", [b"n", b"ew"])
    with before:
        assert before.read() == b"old", "whoever reads keeps what was there"
    assert (root / "docs/deep/a.md").read_bytes() == b"new"
    assert os.listdir(root / "docs/deep") == ["a.md"]


def test_nothing_is_left_of_a_write_that_fails(root: Path) -> None:
    def pieces() -> object:
        yield b"half"
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        replace_file(root, "a.md", pieces())  # type: ignore[arg-type]
    assert os.listdir(root) == []


@pytest.mark.parametrize("path", ["docs/a.md", "../a.md", "docs/../../a.md", "/a.md"])
def test_no_path_leads_out_of_the_workspace(root: Path, outside: Path, path: str) -> None:
    (root / "docs").symlink_to(outside)
    with pytest.raises(OSError, match=r"link|leaves"):
        replace_file(root, path, [b"text"])
    assert os.listdir(outside) == []
    assert os.listdir(root) == ["docs"]


def test_a_link_in_place_of_the_file_is_replaced_not_followed(root: Path, outside: Path) -> None:
    (outside / "precious").write_text("mine")
    (root / "a.md").symlink_to(outside / "precious")
    replace_file(root, "a.md", [b"text"])
    assert (outside / "precious").read_text() == "mine"
    assert (root / "a.md").read_text() == "text"
    assert not (root / "a.md").is_symlink()


def test_matching_files_are_copied_and_stay_as_they_were(root: Path, tmp_path: Path) -> None:
    for name in ("build/a.html", "build/deep/b.html", "build/c.txt", "d.html", ".git/e.html", "store/f.html"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    kept = keep_files(root, ["build/*.html", "**/*.html"], tmp_path / "attempt", root / "store")
    assert [one.path for one in kept] == ["build/a.html", "d.html", "build/deep/b.html"]
    assert kept[0].size_bytes == len("build/a.html")
    (root / "build/a.html").write_text("changed")
    assert (tmp_path / "attempt" / COPIES / "build/a.html").read_text() == "build/a.html"


def test_a_class_of_characters_matches_only_those(root: Path, tmp_path: Path) -> None:
    (root / "c.txt").write_text("c")
    with pytest.raises(CannotKeep, match="left no file"):
        keep_files(root, ["[ab].txt"], tmp_path / "attempt", tmp_path)


def test_links_and_pipes_are_not_followed(root: Path, outside: Path, tmp_path: Path) -> None:
    (outside / "secret.html").write_text("secret")
    (root / "build").symlink_to(outside)
    with pytest.raises(OSError, match="link"):
        keep_files(root, ["build/*.html"], tmp_path / "attempt", tmp_path)
    with pytest.raises(CannotKeep):
        keep_files(root, ["**/*.html"], tmp_path / "attempt", tmp_path)
    os.mkfifo(root / "a.html")
    with pytest.raises(OSError, match="regular"):
        keep_files(root, ["*.html"], tmp_path / "attempt", tmp_path)
    (root / "b.html").symlink_to(outside / "secret.html")
    with pytest.raises(OSError, match="symbolic"):
        keep_files(root, ["b.html"], tmp_path / "attempt", tmp_path)


def test_a_link_in_the_attempts_directory_is_not_written_through(root: Path, outside: Path, tmp_path: Path) -> None:
    (root / "a.html").write_text("a")
    (tmp_path / "attempt").mkdir()
    (tmp_path / "attempt" / COPIES).symlink_to(outside)
    with pytest.raises(OSError, match="link"):
        keep_files(root, ["a.html"], tmp_path / "attempt", tmp_path)
    assert os.listdir(outside) == []


def test_too_many_files_are_refused(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("manyhands.hosts.artefacts.kept_files.FILES_MAX", 2)
    for name in ("a", "b", "c"):
        (root / name).write_text(name)
    with pytest.raises(CannotKeep, match="more than 2 files"):
        keep_files(root, ["*"], tmp_path / "attempt", tmp_path)
