"""What another machine reports of its devices, as JSON or as the CSV of `nvidia-smi`, becomes a reading.

The fullest device determines how much room there is, because one model may span all of them.
"""

import csv
import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from manyhands.core.values.widths import Reading
from manyhands.readers.no_answer import NoAnswer

#: Where lists of devices are: `manyhands probe` and `gpustat --json`.
_LISTS = ("devices", "gpus")
#: The order that is assumed where the CSV has no header.
_PLAIN_COLUMNS = ("memory.used", "memory.total", "utilization.gpu")
_UNITS = {"": 2**20, "mib": 2**20, "gib": 2**30, "kib": 2**10, "b": 1}  # `nvidia-smi` means MiB where it says nothing
#: More than any machine has, and a number that every other can be compared with.
_BYTES_MAX = 2**63
_NUMBER = re.compile(r"^\s*([0-9.]+)\s*([A-Za-z%]*)\s*$")


def reading_of(output: bytes, at: float, source: str) -> Reading:
    text = output.decode(errors="replace").strip()
    rows = _json_rows(text) if text[:1] in ("{", "[") else _csv_rows(text)
    devices = [found for row in rows if (found := _device(row)) is not None]
    if not devices:
        raise NoAnswer(f"no memory in its answer: {text[:80]!r}")
    used, total, _ = max(devices, key=lambda device: device[0] / device[1])
    busy = [share for _, _, share in devices if share is not None]
    return Reading(
        at=at, source=source, memory_total_bytes=total, memory_used_bytes=used, utilisation=max(busy, default=None)
    )


def _json_rows(text: str) -> Iterable[Mapping[str, Any]]:
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise NoAnswer(f"it is not JSON: {error}") from None
    if isinstance(found, dict):
        listed = next((found[name] for name in _LISTS if found.get(name)), None)
        found = listed if isinstance(listed, list) else [found.get("machine", found)]
    return [row for row in found if isinstance(row, dict)]


def _csv_rows(text: str) -> Iterable[Mapping[str, Any]]:
    lines = [[cell.strip() for cell in row] for row in csv.reader(text.splitlines()) if row]
    if not lines:
        return []
    if _NUMBER.match(lines[0][0]):
        return [dict(zip(_PLAIN_COLUMNS, line, strict=False)) for line in lines]
    heads = [head.partition(" ")[0] for head in lines[0]]
    units = [head.rpartition("[")[2].partition("]")[0] for head in lines[0]]
    return [
        {
            name: cell if not _is_bare(cell) else f"{cell} {unit}"
            for name, unit, cell in zip(heads, units, line, strict=False)
        }
        for line in lines[1:]
    ]


def _is_bare(cell: str) -> bool:
    found = _NUMBER.match(cell)
    return found is not None and not found[2]


def _device(row: Mapping[str, Any]) -> tuple[int, int, float | None] | None:
    """Bytes used, bytes in all, and how busy it is; None: the row does not tell its memory."""
    total = _bytes(row, "memory_total_bytes", "memory.total")
    used = _bytes(row, "memory_used_bytes", "memory.used")
    free = _bytes(row, "memory_free_bytes", "memory.free")
    if used is None and total is not None and free is not None:
        used = total - free
    if not total or used is None:
        return None
    if not 0 <= used <= total:
        raise NoAnswer(f"impossible answer: {used >> 20:,} MiB used of {total >> 20:,} MiB")
    return used, total, _share(row)


def _bytes(row: Mapping[str, Any], exact: str, as_smi: str) -> int | None:
    value = row.get(exact)
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _BYTES_MAX:
        return int(value)
    found = _NUMBER.match(str(row.get(as_smi, "")))
    if found is None or found[2].lower() not in _UNITS:
        return None
    amount = _float(found[1]) * _UNITS[found[2].lower()]
    if amount >= _BYTES_MAX:
        raise NoAnswer(f"impossible answer: {found[1][:20]} {found[2]} of memory")
    return int(amount)


def _share(row: Mapping[str, Any]) -> float | None:
    value = row.get("utilisation")
    if isinstance(value, int | float) and 0 <= value <= 1:
        return float(value)
    found = _NUMBER.match(str(row.get("utilization.gpu", "")))
    return min(1.0, _float(found[1]) / 100) if found is not None else None


def _float(digits: str) -> float:
    try:
        return float(digits)
    except ValueError:
        raise NoAnswer(f"`{digits[:20]}` is not a number") from None
