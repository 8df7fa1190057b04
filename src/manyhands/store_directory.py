"""The directory of a store, which manyhands makes and keeps out of git.

It holds the journal, a token and what attempts printed. An agent that types `git add -A` must take none of it.
"""

import os
from pathlib import Path

_IGNORE_ALL = "# manyhands made this directory: nothing in it belongs in a commit.\n*\n"


def make_store_directory(directory: Path) -> bool:
    """Whether it had to be made. A directory that was there before is left as it is: it may be more than a store."""
    if directory.is_dir():
        return False
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)  # for its owner alone
    (directory / ".gitignore").write_text(_IGNORE_ALL)
    return True


def write_for_owner(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read, over the one with this name, whole or not at all."""
    half = path.with_name(f"{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    descriptor = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(half, path)
    except BaseException:
        half.unlink(missing_ok=True)
        raise
