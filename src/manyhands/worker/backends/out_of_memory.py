"""Tells out of memory from other failures. Libraries report it in different ways: by type, message or error code."""

import errno
import re

_WORDS = re.compile(
    r"out of memory|bad_alloc|bad allocation|failed to allocate|unable to allocate|can(?:'t|not) allocate memory"
    r"|could not create a primitive|could not create a memory|CUBLAS_STATUS_ALLOC_FAILED|CUDNN_STATUS_ALLOC_FAILED"
    r"|CUDA_ERROR_OUT_OF_MEMORY|insufficient memory|not enough memory",
    re.IGNORECASE,
)


def is_out_of_memory(error: BaseException) -> bool:
    seen: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in seen:
        seen.append(cause)
        if isinstance(cause, MemoryError) or (isinstance(cause, OSError) and cause.errno == errno.ENOMEM):
            return True
        if type(cause).__name__ == "OutOfMemoryError" or _WORDS.search(str(cause)):
            return True
        cause = cause.__cause__ or cause.__context__
    return False
