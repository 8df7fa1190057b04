"""What disks and careless copies do to the files of a store."""

import random
import shutil
from pathlib import Path

PAGE_BYTES = 4096


def copy_files(source: Path, target: Path) -> None:
    """As they are now, like a copy of a store in use, or as a power cut finds them."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    for file in source.iterdir():
        if file.is_file() and not file.name.endswith("-shm"):
            shutil.copyfile(file, target / file.name)


def flip(file: Path, rng: random.Random) -> None:
    whole = bytearray(file.read_bytes())
    # Half of them in the heads of pages, where a bit steers the reading of all the rest.
    at = (
        rng.randrange(len(whole))
        if rng.random() < 0.5
        else rng.randrange(0, len(whole), PAGE_BYTES) + rng.randrange(40)
    )
    whole[min(at, len(whole) - 1)] ^= 1 << rng.randrange(8)
    file.write_bytes(whole)


def zero(file: Path, rng: random.Random) -> None:
    whole = bytearray(file.read_bytes())
    at = rng.randrange(0, len(whole), 512)
    whole[at : at + 512] = bytes(len(whole[at : at + 512]))
    file.write_bytes(whole)


def cut(file: Path, rng: random.Random) -> None:
    with file.open("r+b") as opened:
        opened.truncate(rng.randrange(file.stat().st_size))


def lose(file: Path, rng: random.Random) -> None:
    file.unlink()


def misdirect(file: Path, rng: random.Random) -> None:
    """A page is written over another one."""
    whole = bytearray(file.read_bytes())
    pages = range(0, len(whole), PAGE_BYTES)
    source, target = rng.choice(pages), rng.choice(pages)
    whole[target : target + PAGE_BYTES] = whole[source : source + PAGE_BYTES]
    file.write_bytes(whole)
