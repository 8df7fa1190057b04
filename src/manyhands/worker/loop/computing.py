"""Batches on threads: one call computes one batch and says how it went, as a value. Nothing raised leaves the thread.

An exhausted memory is told only after the except block was left: inside it the traceback keeps the batch alive.
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
    took_s: float = 0.0  # of the thread that computed it
    began_at: float = 0.0
    ended_at: float = 0.0
    peak_bytes: int | None = None  # what it took over what was held before; None: not measured
    reason: str = ""
    out_of_memory: bool = False
    begun: bool = True


def compute(model: Loaded, rows: Sequence[Any], length: int, width: int | None) -> Computed:
    """`width`: of the numbers an encoder gives for each row; None: it gives something else."""
    failure: tuple[str, bool] | None = None
    outputs: Any = None
    # The thread's own time: what runs beside it does not make a batch dearer.
    began, began_at = time.thread_time(), time.monotonic()
    try:
        outputs = model.compute(rows, length)
        if len(outputs) != len(rows):
            failure = (f"the model gave {len(outputs)} answers for {len(rows)} items", False)
        elif width is not None:
            bad = wrong_with_outputs(outputs, width)
            outputs = [bad.get(place, row) for place, row in enumerate(outputs)]
    except BaseException as error:  # the boundary: a batch must not take its thread along
        failure = (reason_of(error), is_out_of_memory(error))
    if failure is None:
        return Computed(outputs, time.thread_time() - began, began_at, time.monotonic())
    outputs = None
    if failure[1]:
        with contextlib.suppress(Exception):  # it may need a little memory itself; the next batch asks again
            model.give_back()
        give_back_memory()
    return Computed(reason=failure[0], out_of_memory=failure[1])


def reason_of(error: BaseException) -> str:
    text = " ".join(str(error).split())[:_REASON_CHARACTERS_MAX]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def keep_freed_memory() -> None:
    """Have freed blocks stay with the process for the next batch; `give_back_memory` hands them back.

    By default large blocks go back to the system at once, and a batch that computes in the heap, as torch's do, pays
    for their pages anew each time.
    """
    libc = _libc()
    if libc is not None:
        trim_threshold, mmap_threshold, arena_max = -1, -3, -8
        libc.mallopt(trim_threshold, 2**31 - 1)
        libc.mallopt(mmap_threshold, 2**30)
        libc.mallopt(arena_max, 1)  # one pool for all threads: what one freed serves the next


def give_back_memory() -> None:
    gc.collect()
    trim()


def trim() -> None:
    """Freed pages back to the system."""
    libc = _libc()
    if libc is not None:
        libc.malloc_trim(0)


def _libc() -> Any:
    try:
        libc = ctypes.CDLL("libc.so.6")
        return libc if hasattr(libc, "malloc_trim") else None
    except OSError:
        return None
