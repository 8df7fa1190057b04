"""Does a sink that is slower than the work slow the work down?

Batches of 530 ms, and a webhook that takes 1,235 ms for each result; with a route and without, in turns.
"""

import asyncio
import statistics
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from record import record

from manyhands.assembly import open_session
from manyhands.core.values.task import Claims, Task
from manyhands.engine.run_opening import opening
from manyhands.sources.config.config_reading import load_config

COMPUTE_S = 0.53
SINK_S = 1.235
BATCHES = 16
ROUNDS = 3


class Slow(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        time.sleep(SINK_S)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None: ...


async def makespan_s(directory: Path, url: str | None) -> float:
    route = f'[routes.gpu]\norder = "task"\n[[routes.gpu.sinks]]\ntype = "webhook"\nurl = "{url}"\n' if url else ""
    (directory / "manyhands.toml").write_text('[hosts.local]\ntype = "shell"\nwidth = 1\n' + route)
    config = load_config(directory, environ={})
    command = (sys.executable, "-S", "-c", f"import time; time.sleep({COMPUTE_S})")
    tasks = [Task(f"b{n}", kind="shell", run=command, claims=Claims(), app="gpu") for n in range(BATCHES)]
    async with open_session(config) as dispatcher:
        begun = time.perf_counter()
        await dispatcher.submit(*opening("bench", dispatcher.clock.now(), tasks))
        await dispatcher.wait_settled("bench")
        return time.perf_counter() - begun


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/"
    ratios = []
    for _ in range(ROUNDS):
        took = {}
        for name, to in (("without", None), ("with", url)):
            with tempfile.TemporaryDirectory() as directory:
                took[name] = asyncio.run(makespan_s(Path(directory), to))
        ratios.append(took["without"] / took["with"])
    ratio = statistics.median(ratios)
    print(f"throughput with the slow sink: {ratio:.3f} of that without (rounds {[round(one, 3) for one in ratios]})")
    record(
        "slow_sink",
        {"compute_s": COMPUTE_S, "sink_s": SINK_S, "batches": BATCHES, "rounds": ROUNDS},
        ratio,
        "of that without",
    )
    server.shutdown()


if __name__ == "__main__":
    main()
