"""An HTTP server on loopback that refuses with 429 what is too much, in a process of its own.

`slots`: so many requests at once, and no more. `rate`: so many a second, from a bucket. Each answer takes a while.
"""

import asyncio
import itertools
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

MOMENT = b"HTTP/1.1 %d %s\r\ncontent-length: 2\r\n%s\r\nok"


class Limits:
    def __init__(self, slots: int, rate: float, burst: int, latency_s: float) -> None:
        self.slots, self.rate, self.burst, self.latency_s = slots, rate, burst, latency_s
        self.now = 0
        self.tokens = float(burst)
        self.filled_at = time.monotonic()
        self.dice = random.Random(7)

    def admits(self) -> bool:
        now = time.monotonic()
        self.tokens = min(float(self.burst), self.tokens + (now - self.filled_at) * self.rate)
        self.filled_at = now
        if (self.slots and self.now >= self.slots) or (self.rate and self.tokens < 1.0):
            return False
        self.tokens -= 1.0
        return True

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                if not self.admits():
                    wait = b"retry-after: %.3f\r\n" % (1.0 / self.rate if self.rate else self.latency_s / 2)
                    writer.write(MOMENT % (429, b"Too Many Requests", wait))
                    continue
                self.now += 1
                try:
                    await asyncio.sleep(self.latency_s * self.dice.uniform(0.5, 1.5))
                finally:
                    self.now -= 1
                writer.write(MOMENT % (200, b"OK", b""))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


async def main(slots: int, rate: float, burst: int, latency_s: float) -> None:
    server = await asyncio.start_server(Limits(slots, rate, burst, latency_s).serve, "127.0.0.1", 0, backlog=1000)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)  # until whoever started it is gone


@contextmanager
def limited_server(*, slots: int = 0, rate: float = 0.0, burst: int = 1, latency_s: float = 0.1) -> Iterator[str]:
    """The address of a new server."""
    argv = [sys.executable, __file__, *map(str, (slots, rate, burst, latency_s))]
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}/"
    finally:
        process.kill()
        process.wait()


if __name__ == "__main__":
    given = itertools.islice(sys.argv, 1, None)
    asyncio.run(main(int(next(given)), float(next(given)), int(next(given)), float(next(given))))
