"""Puts a width into a host's table of a `manyhands.toml` without touching any other byte of the file."""

import os
import re
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from manyhands.errors import ConfigError
from manyhands.readers.text import BOM
from manyhands.readers.toml_lines import toml_value_spans

_KEY_ALONE = re.compile(r"""(?P<before>[ \t]*(?:[^#={]*\.[ \t]*)?)(?:type|"type"|'type')[ \t]*=[ \t]*""")


def write_width(file: Path, host: str, width: int) -> None:
    """Whole or not at all: another process sees the file as it was or as it will be."""
    file = file.resolve()  # a link stays a link
    raw = file.read_bytes()
    mark = BOM if raw.startswith(BOM) else b""
    changed = mark + with_width(raw.removeprefix(BOM).decode(), host, width, str(file)).encode()
    if changed == raw:
        return
    handle, name = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(changed)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(name, file.stat().st_mode & 0o7777)
        os.replace(name, file)
    except BaseException:
        os.unlink(name)
        raise


def with_width(text: str, host: str, width: int, name: str = "manyhands.toml") -> str:
    """The text with `width = N` in that host's table: instead of the one there, else after its `type`."""
    wanted = tomllib.loads(text)
    if host not in wanted.get("hosts", {}):
        raise ConfigError(f"`{name}` has no host `{host}` to write a width to", f"write [hosts.{host}] there first")
    wanted["hosts"][host]["width"] = width
    changed = _edited(text, host, width)
    # Files can be written in more ways than are edited here: what does not come out as meant is left alone.
    if _read(changed) != wanted:
        hint = f"write `width = {width}` for host `{host}` there by hand"
        raise ConfigError(f"`{name}` is written in a way that `--write` does not change", hint)
    return changed


def _read(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def _edited(text: str, host: str, width: int) -> str:
    spans = toml_value_spans(text)
    there = spans.get(("hosts", host, "width"))
    if there is not None:
        return text[: there[0]] + str(width) + text[there[1] :]
    type_at = spans.get(("hosts", host, "type"))
    if type_at is None:
        return text
    line_start = text.rfind("\n", 0, type_at[0]) + 1
    alone = _KEY_ALONE.fullmatch(text, line_start, type_at[0])
    if alone is None:  # an inline table
        return f"{text[: type_at[1]]}, width = {width}{text[type_at[1] :]}"
    line_end = text.find("\n", type_at[1])
    line_end = len(text) if line_end < 0 else line_end
    cut = line_end - 1 if text[:line_end].endswith("\r") else line_end
    newline = "\r\n" if cut < line_end else "\n"
    return f"{text[:cut]}{newline}{alone['before']}width = {width}{text[cut:]}"
