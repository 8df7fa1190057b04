"""A file's bytes and text, or the reason why it cannot be read."""

from pathlib import Path

from manyhands.readers.problems import Problem, Problems

BOM = b"\xef\xbb\xbf"
_OTHER_ENCODINGS = (b"\xff\xfe", b"\xfe\xff")


def obstacle(file: Path, name: str, kind: str) -> Problem | None:
    """Why there is no such file, if so. Opening the file finds all other problems."""
    if file.is_dir():
        return Problem(file=name, message="is a directory", hint=f"name a {kind} inside it")
    if not file.exists():
        return Problem(file=name, message="there is no such file", hint="check the path for typos")
    return None


def unreadable(name: str, error: OSError) -> Problem:
    hint = (
        f"`chmod u+r {name}` lets its owner read it" if isinstance(error, PermissionError) else "try another copy of it"
    )
    return Problem(file=name, message=f"cannot be read: {(error.strerror or str(error)).lower()}", hint=hint)


def decoded(raw: bytes, name: str, problems: Problems) -> str | None:
    """The text of a file, without a byte-order mark; None if it is not UTF-8."""
    raw = raw.removeprefix(BOM)
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        problems.add(not_utf8(name, line, raw[error.start : error.start + 1], raw[:2]))
        return None


def not_utf8(name: str, line: int, byte: bytes, start: bytes = b"") -> Problem:
    utf16 = start in _OTHER_ENCODINGS
    return Problem(
        file=name,
        line=line,
        value=f"0x{byte.hex()}",
        message=f"is not UTF-8: byte 0x{byte.hex()}",
        hint="it looks like UTF-16; save the file as UTF-8" if utf16 else "save the file as UTF-8",
    )
