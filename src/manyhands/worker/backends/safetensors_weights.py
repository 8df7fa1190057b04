"""Weights in safetensors files, as arrays over the mapped file. Nothing is copied, and pages are loaded when used.

The `safetensors` package copies each tensor into new memory, so a model would take twice its size.
"""

import json
import mmap
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manyhands.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

ONE_FILE, INDEX = "model.safetensors", "model.safetensors.index.json"
_NUMPY_NAME = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4"}


def weight_files(folder: Path) -> list[Path]:
    """The files that hold the weights. The list is empty if the folder has no safetensors."""
    if (folder / ONE_FILE).is_file():
        return [folder / ONE_FILE]
    if not (folder / INDEX).is_file():
        return []
    names = set(json.loads((folder / INDEX).read_bytes())["weight_map"].values())
    return [folder / name for name in sorted(names)]


class Weights:
    """Tensors by name, with or without the prefix that some files put before the names."""

    def __init__(self, files: list[Path], prefixes: tuple[str, ...] = ("",)) -> None:
        self._maps: list[mmap.mmap] = []
        self._place_of: dict[str, tuple[mmap.mmap, int, dict[str, Any]]] = {}
        self._prefixes = prefixes
        for file in files:
            self._read(file)

    def __contains__(self, name: str) -> bool:
        return self._full(name) is not None

    def get(self, name: str) -> "NDArray[Any]":
        """A tensor as float32. Only tensors of other precisions are copied."""
        import numpy as np

        full = self._full(name)
        if full is None:
            raise UsageError(
                f"the weights have no tensor `{name}`",
                'use `backend = "torch"` for models that are not of the BERT family',
            )
        mapped, begin, entry = self._place_of[full]
        kind = _NUMPY_NAME.get(entry["dtype"])
        if kind is None:
            raise UsageError(f"tensor `{full}` is of type {entry['dtype']}, which the onnx backend does not support")
        first, last = entry["data_offsets"]
        count = (last - first) // np.dtype(kind).itemsize
        flat = np.frombuffer(mapped, dtype=kind, count=count, offset=begin + first).reshape(entry["shape"])
        if entry["dtype"] == "BF16":
            return (flat.astype(np.uint32) << 16).view(np.float32)
        return flat if entry["dtype"] == "F32" else flat.astype(np.float32)

    def bytes_of(self, part: str) -> int:
        """The size of the tensors whose names begin like one part of the model."""
        sizes = [entry["data_offsets"] for name, (_, _, entry) in self._place_of.items() if name.startswith(part)]
        return sum(last - first for first, last in sizes)

    def let_go_of_pages(self) -> None:
        """Release the mapped pages. They stay in the page cache, and those still used are mapped again from there."""
        for mapped in self._maps:
            mapped.madvise(mmap.MADV_DONTNEED)

    def _full(self, name: str) -> str | None:
        return next((prefix + name for prefix in self._prefixes if prefix + name in self._place_of), None)

    def _read(self, file: Path) -> None:
        try:
            with file.open("rb") as opened:
                mapped = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
            (length,) = struct.unpack_from("<Q", mapped)
            header = json.loads(mapped[8 : 8 + length])
        except (struct.error, ValueError, UnicodeDecodeError):
            raise UsageError(f"`{file}` is not a safetensors file", "download it again") from None
        self._maps.append(mapped)
        for name, entry in header.items():
            if name != "__metadata__":
                if 8 + length + entry["data_offsets"][1] > len(mapped):
                    raise UsageError(f"`{file}` ends within tensor `{name}`", "download it again")
                self._place_of[name] = (mapped, 8 + length, entry)
