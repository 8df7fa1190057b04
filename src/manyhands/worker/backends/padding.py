"""Pads rows of tokens to the rectangular arrays that an encoder computes on."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from manyhands.worker.backends.backend import Tokens

if TYPE_CHECKING:
    from numpy.typing import NDArray


def padded(rows: Sequence[Tokens], length: int, pad_id: int) -> "dict[str, NDArray[Any]]":
    import numpy as np

    shape = (len(rows), length)
    ids = np.full(shape, pad_id, np.int32)
    mask, types = np.zeros(shape, np.int32), np.zeros(shape, np.int32)
    for number, row in enumerate(rows):
        count = len(row.ids)
        ids[number, :count] = row.ids
        mask[number, :count] = 1
        if row.types:
            types[number, :count] = row.types
    return {"ids": ids, "mask": mask, "types": types}
