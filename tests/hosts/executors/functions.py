"""What the tests have python hosts call."""

import asyncio
import ctypes
import os
import pathlib
import subprocess
import sys
import threading
import time
import uuid
from typing import ClassVar

from manyhands.errors import Unavailable


def raises_flag(flags):
    pathlib.Path(flags, uuid.uuid4().hex).touch()


async def works_async():
    return None


async def fails_async():
    raise ValueError("broken")


async def hangs_async(flags):
    raises_flag(flags)
    await asyncio.Event().wait()


async def shrugs_off_one_cancellation(flags):
    try:
        await hangs_async(flags)
    except asyncio.CancelledError:
        await asyncio.Event().wait()


async def cancels_itself():
    raise asyncio.CancelledError


async def echoes_async(value):
    return value


async def exits_async():
    sys.exit(3)


async def interrupts_async():
    raise KeyboardInterrupt


async def returns_a_coroutine():
    return works_async()


async def is_overloaded():
    raise Unavailable("no room just now")


async def tells_context_async(context):
    return [context.attempt, context.last_ending, context.last_detail]


def works():
    return None


def fails():
    raise ValueError("broken")


def hangs(flags):
    raises_flag(flags)
    time.sleep(1000)


def echoes(value):
    return value


def is_async_inside():
    return echoes_async("awaited")


def exits():
    sys.exit(3)


def vanishes(code):
    os._exit(code)


def crashes():
    ctypes.string_at(0)


def prints():
    print("said by the function")
    print("complained by the function", file=sys.stderr)
    subprocess.run(["echo", "said by its child"], check=True)


def tells_process():
    return os.getpid()


def meets(place, count):
    """Ends when as many processes have come there: none of them can have served two."""
    open(os.path.join(place, str(os.getpid())), "w").close()
    while len(os.listdir(place)) < count:
        time.sleep(0.01)
    return os.getpid()


def tells_place():
    return [os.getcwd(), os.environ.get("COLOUR")]


def tells_context(context):
    return [context.attempt, context.last_ending, context.last_detail]


def leaves_a_child():
    subprocess.Popen(["sleep", "1000"])
    return os.getpid()


def leaves_a_daemon():
    subprocess.run(["sh", "-c", "setsid sleep 1000 >/dev/null 2>&1 &"], check=True)
    return os.getpid()


def leaves_a_thread():
    threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
    return os.getpid()


def takes_memory(megabytes):
    return len(bytearray(b"x" * (megabytes << 20)))


class Odd:
    def __repr__(self):
        return "<odd>"


def returns_odd():
    return Odd()


def hangs_in_a_child(flags):
    raises_flag(flags)
    subprocess.run(["sh", "-c", "setsid sleep 1000 & exec sleep 1000"], check=True)


def writes_ending():
    pathlib.Path(os.environ["MANYHANDS_ENDING_FILE"]).write_text('{"rate_limited": true, "retry_after": 4}')


async def writes_ending_async(context, said):
    context.directory.mkdir(parents=True, exist_ok=True)
    (context.directory / "ending.json").write_text(said)
    (context.directory / "usage.json").write_text('{"tokens_in": 7}')


def says(words):
    print(words)


def exits_75():
    sys.exit(75)


class Refused(Exception):
    """As clients raise it."""

    status_code = 429
    headers: ClassVar[dict[str, str]] = {"retry-after": "1.5"}


def refused_by_its_server() -> None:
    raise Refused


async def refused_by_its_server_async() -> None:
    raise Refused
