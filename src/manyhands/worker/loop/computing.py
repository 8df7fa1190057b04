"""Computes batches on threads. One call computes one batch and returns how it went; no exception leaves the thread.

Out of memory is reported only after the except block has ended: inside it, the traceback keeps the batch alive.
"""

import contextlib
import ctypes
import gc
import time
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from manyhands.worker.backends.backend import Loaded, Output
from manyhands.worker.backends.out_of_memory import is_out_of_memory
from manyhands.worker.loop.validation import wrong_with_outputs
from manyhands.worker.values.item_answers import Trouble

_REASON_CHARACTERS_MAX = 500


class Computed(Struct):
    """How a batch went: outputs, or why there are none."""

    outputs: Sequence[Output | Trouble] = ()
    took_s: float = 0.0  # CPU time of the thread that computed it
    began_at: float = 0.0
    ended_at: float = 0.0
    peak_bytes: int | None = None  # peak above what was held before; None: not measured
    reason: str = ""
    out_of_memory: bool = False
    begun: bool = True


def compute(model: Loaded, rows: Sequence[Any], length: int, width: int | None) -> Computed:
    """Compute one batch. `width` is how many numbers an encoder returns for each row; None: it is not an encoder."""
    failure: tuple[str, bool] | None = None
    outputs: Any = None
    # Use the thread's own time, so that other threads do not make a batch look slower.
    began, began_at = time.thread_time(), time.monotonic()
    try:
        outputs = model.compute(rows, length)
        if len(outputs) != len(rows):
            failure = (f"the model gave {len(outputs)} answers for {len(rows)} items", False)
        elif width is not None:
            bad = wrong_with_outputs(outputs, width)
            outputs = [bad.get(place, row) for place, row in enumerate(outputs)]
    except BaseException as error:  # the boundary: a failed batch must not end its thread
        failure = (reason_of(error), is_out_of_memory(error))
    if failure is None:
        return Computed(outputs, time.thread_time() - began, began_at, time.monotonic())
    outputs = None
    if failure[1]:
        with contextlib.suppress(Exception):  # handing back may itself need memory; the next failure tries again
            model.give_back()
        give_back_memory()
    return Computed(reason=failure[0], out_of_memory=failure[1])


def reason_of(error: BaseException) -> str:
    text = " ".join(str(error).split())[:_REASON_CHARACTERS_MAX]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def keep_freed_memory() -> None:
    """Keep freed blocks in the process for the next batch. `give_back_memory` hands them back.

    By default, large blocks go back to the system at once. A batch that computes in the heap, as with torch, would
    then pay for their pages each time.
    """
    libc = _libc()
    if libc is not None:
        trim_threshold, mmap_threshold, arena_max = -1, -3, -8
        libc.mallopt(trim_threshold, 2**31 - 1)
        libc.mallopt(mmap_threshold, 2**30)
        libc.mallopt(arena_max, 1)  # one pool for all threads, so that each can reuse what another freed


def give_back_memory() -> None:
    gc.collect()
    trim()


def trim() -> None:
    """Hand freed pages back to the system."""
    libc = _libc()
    if libc is not None:
        libc.malloc_trim(0)


def _libc() -> Any:
    try:
        libc = ctypes.CDLL("libc.so.6")
        return libc if hasattr(libc, "malloc_trim") else None
    except OSError:
        return None
