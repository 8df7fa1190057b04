"""The token that allows commands. It is a file in the store, readable by its owner alone, made at first use."""

import contextlib
import os
import secrets
import stat
from pathlib import Path

from manyhands.errors import StoreBroken
from manyhands.readers.plain_file import open_plain
from manyhands.store_directory import make_store_directory

FILE = "token"
VARIABLE = "MANYHANDS_TOKEN"
TOKEN_BYTES = 24


def token_of(directory: Path) -> str:
    """The token of the store. Two processes that make it at the same moment get the same one."""
    path = directory / FILE
    try:
        if (found := read_token(directory)) is not None:
            return found
        make_store_directory(directory)
        made = path.with_name(f"{FILE}.{os.getpid()}.{secrets.token_hex(4)}")
        fd = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.write(fd, (secrets.token_urlsafe(TOKEN_BYTES) + "\n").encode())
            os.fsync(fd)
        finally:
            os.close(fd)
        try:
            # A link, not a rename: it fails if another was there first, and that one holds.
            with contextlib.suppress(FileExistsError):
                os.link(made, path)
        finally:
            made.unlink()
        found = read_token(directory)
    except OSError as error:
        raise StoreBroken(f"cannot keep a token in `{path}`: {error.strerror}", "the store must be writable") from error
    assert found is not None
    return found


def read_token(directory: Path) -> str | None:
    """The token, or None if there is none. A token that others may read is refused."""
    path = directory / FILE
    try:
        with open(open_plain(path), encoding="ascii", errors="replace") as file:
            mode = os.fstat(file.fileno()).st_mode
            text = file.read(1000).strip()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreBroken(
            f"cannot read the token in `{path}`: {error.strerror}", f"`rm {path}`: the next start makes a new one"
        ) from error
    if stat.S_IMODE(mode) & 0o077:
        raise StoreBroken(
            f"others can read the token in `{path}` (mode {stat.S_IMODE(mode):03o})",
            f"`rm {path}`: the next start makes a new one",
        )
    if len(text) < 16:
        raise StoreBroken(f"`{path}` holds no token", f"`rm {path}`: the next start makes a new one")
    return text
