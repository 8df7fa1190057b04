"""What others put at a path is opened only if it is a regular file, and nothing there makes the opening wait."""

import os
from pathlib import Path

import pytest

from manyhands.readers.plain_file import open_plain, read_plain

pytestmark = pytest.mark.usefixtures("patience")


@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_WRONLY | os.O_CREAT | os.O_APPEND, os.O_RDWR | os.O_CREAT])
@pytest.mark.parametrize("made", ["pipe", "link to a pipe", "link to a device", "circle", "directory"])
def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path, made: str, flags: int) -> None:
    place, pipe = tmp_path / "place", tmp_path / "pipe"
    os.mkfifo(pipe)
    match made:
        case "pipe":
            os.mkfifo(place)
        case "link to a pipe":
            place.symlink_to(pipe)
        case "link to a device":
            place.symlink_to("/dev/zero")
        case "circle":
            place.symlink_to(place)
        case "directory":
            place.mkdir()
    for through_links in (False, True):
        with pytest.raises(OSError, match=r"not a regular file|Is a directory"):
            open_plain(place, flags, through_links=through_links)


def test_a_file_is_read_up_to_its_bound(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_bytes(b"12345")
    link.symlink_to(file)
    assert read_plain(file, 5) == b"12345"
    assert read_plain(link, 5, through_links=True) == b"12345"
    with pytest.raises(OSError, match="more than 4 bytes"):
        read_plain(file, 4)
