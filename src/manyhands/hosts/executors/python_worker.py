"""A process that calls functions for a dispatcher, one at a time, and dies with it.

It waits for a request on its channel, reports that it begins, calls the function and answers. What the function
prints goes to the attempt's log.
"""

import asyncio
import contextlib
import ctypes
import inspect
import json
import os
import pickle
import signal
import socket
import struct
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from manyhands.hosts.executors.function import Context, FunctionOutcome, describe_error, describe_value, resolve
from manyhands.hosts.executors.process_source import HAS_PROC
from manyhands.readers.plain_file import open_plain

HEADER = struct.Struct("!I")
BEGUN = b"!"  # sent before the function is called; without it, the function was certainly not called
_PR_SET_PDEATHSIG = 1
_RESET_PEAK = "5"  # see proc(5), clear_refs
_WATCHER = "parent-watch"
_LOOK_S = 0.2


class FunctionCall(NamedTuple):
    call: str
    args: Mapping[str, Any]
    context: Context
    env: Mapping[str, str]
    cwd: str
    log: str
    result_in_file: bool


class Reply(NamedTuple):
    outcome: FunctionOutcome
    clean: bool  # it left no thread or child process behind


def command(channel: int) -> list[str]:
    """The argv of a worker that can import everything that this process can import."""
    start = "import sys; sys.path[:] = sys.argv[3:]; from manyhands.hosts.executors.python_worker import main; main()"
    places = (place or os.getcwd() for place in sys.path)  # "" would mean the worker's own directory
    return [sys.executable, "-c", start, str(channel), str(os.getpid()), *places]


def main() -> None:
    descriptor, parent = int(sys.argv[1]), int(sys.argv[2])
    _die_with(parent)
    os.set_inheritable(descriptor, False)
    channel = socket.socket(fileno=descriptor)
    incoming = channel.makefile("rb")
    while (request := _next(incoming)) is not None:
        channel.sendall(BEGUN)
        answer = json.dumps(_carry_out(request)).encode()
        channel.sendall(HEADER.pack(len(answer)) + answer)


def _die_with(parent: int) -> None:
    """Die when the dispatcher is killed, even in the middle of a call."""
    if HAS_PROC:
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    else:
        threading.Thread(target=_watch, args=(parent,), name=_WATCHER, daemon=True).start()
    if os.getppid() != parent:
        os._exit(1)


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK_S)
    os._exit(1)


def _next(incoming: BinaryIO) -> FunctionCall | None:
    header = incoming.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    content: FunctionCall = pickle.loads(incoming.read(HEADER.unpack(header)[0]))
    return content


def _carry_out(request: FunctionCall) -> Reply:
    _reset_peak_memory()
    try:
        with _surroundings(request):
            function = resolve(request.call)
            given = {"context": request.context} if function.wants_context else {}
            value = function.call(**{**given, **request.args})
            if inspect.isawaitable(value):
                value = asyncio.run(_awaited(value))
            outcome = describe_value(value, request.context.directory, request.result_in_file)
    except BaseException as error:  # also SystemExit: a function must not end the worker
        outcome = describe_error(error)
    return Reply(outcome._replace(memory_bytes=_peak_memory()), _is_clean())


async def _awaited(value: Any) -> Any:
    return await value


@contextlib.contextmanager
def _surroundings(request: FunctionCall) -> Iterator[None]:
    """Set the attempt's variables, working directory and output, and restore the previous ones afterwards."""
    before, here, log = dict(os.environ), os.getcwd(), Path(request.log)
    log.parent.mkdir(parents=True, exist_ok=True)
    output = open_plain(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    kept = os.dup(1), os.dup(2)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.environ.clear()
    os.environ.update(request.env)
    os.chdir(request.cwd)
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):  # the function may have closed or replaced it
                stream.flush()
        os.dup2(kept[0], 1)
        os.dup2(kept[1], 2)
        for descriptor in (*kept, output):
            os.close(descriptor)
        os.environ.clear()
        os.environ.update(before)
        os.chdir(here)
        if log.stat().st_size == 0:
            log.unlink()
            with contextlib.suppress(OSError):  # the directory contains other files
                log.parent.rmdir()


def _is_clean() -> bool:
    return not _has_children() and all(
        thread is threading.main_thread() or thread.name == _WATCHER for thread in threading.enumerate()
    )


def _has_children() -> bool:
    if not HAS_PROC:
        import psutil

        return bool(psutil.Process().children())
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _reset_peak_memory() -> None:
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text(_RESET_PEAK, encoding="ascii")


def _peak_memory() -> int:
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
        return int(status.partition("VmHWM:")[2].split(maxsplit=1)[0]) * 1024
    except (OSError, IndexError, ValueError):
        return 0
