"""What does a new user get in the first minute, with nothing configured and nothing learned?

Whole runs of the product on this machine, alternating with fixed widths:
- 24 commands that wait for four seconds, cold and then again and again on the same store;
- 200 prompts to a server that takes 600 requests a minute (bucket of 10, `Retry-After: 1`, 0.3 to 1.2 s each), cold,
  with memory, with the rate stated, and at fixed widths.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random

from record import record

PER_S, DEPTH, RETRY_AFTER_S = 10.0, 10.0, 1
TAKES_S = (0.3, 1.2)
FIXED = (4, 6, 8, 10, 12, 16)


class Meter:
    """A bucket, and how often it was found empty."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.level, self.at = DEPTH, time.monotonic()
        self.taken = self.refused = 0
        self.random = Random(7)

    def take(self) -> float | None:
        """How long the answer takes; None: refused."""
        with self.lock:
            now = time.monotonic()
            self.level = min(DEPTH, self.level + (now - self.at) * PER_S)
            self.at = now
            if self.level < 1:
                self.refused += 1
                return None
            self.level -= 1
            self.taken += 1
            return self.random.uniform(*TAKES_S)


@contextmanager
def serving() -> Iterator[tuple[str, Meter]]:
    meter = Meter()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            takes_s = meter.take()
            if takes_s is None:
                self.answer(429, {"error": {"message": "too many requests"}})
                return
            time.sleep(takes_s)
            choice = {"index": 0, "message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}
            self.answer(200, {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]})

        def answer(self, status: int, body: dict[str, object]) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            if status == 429:
                self.send_header("retry-after", str(RETRY_AFTER_S))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        request_queue_size = 256

    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1", meter
    finally:
        server.shutdown()


def run(directory: Path, *arguments: str) -> float:
    began = time.monotonic()
    command = [sys.executable, "-m", "manyhands", "run", "plan.jsonl", *arguments]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return time.monotonic() - began


def put_sleeps(directory: Path, count: int, seconds: float) -> None:
    rows = [{"id": f"s{n}", "kind": "nap", "run": ["sleep", str(seconds)], "claims": {}} for n in range(count)]
    (directory / "plan.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def put_prompts(directory: Path, count: int, url: str, extra: str = "") -> None:
    rows = [{"id": f"p{n}", "kind": "ask", "prompt": "say ok"} for n in range(count)]
    (directory / "plan.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (directory / "manyhands.toml").write_text(f'[hosts.api]\ntype = "openai"\nurl = "{url}"\nmodel = "m"\n{extra}')


def sleeps(runs: int) -> None:
    count, seconds = 24, 4.0
    with tempfile.TemporaryDirectory() as place:
        directory = Path(place)
        put_sleeps(directory, count, seconds)
        fixed = Path(place) / "fixed"
        fixed.mkdir()
        put_sleeps(fixed, count, seconds)
        (fixed / "manyhands.toml").write_text(f'[hosts.local]\ntype = "shell"\nwidth = {count}\n')
        for number in range(1, runs + 1):
            took_s, best_s = run(directory, "--again"), run(fixed, "--again")
            print(f"24 × sleep 4, run {number}: {took_s:.1f} s, width 24 {best_s:.1f} s, ideal {seconds:.1f} s")
            record("first_minute", {"case": "sleeps", "run": number}, took_s / seconds, "× ideal")
            record("first_minute", {"case": "sleeps at width 24", "run": number}, best_s / seconds, "× ideal")


def prompts(rounds: int) -> None:
    count = 200
    cases = {"cold": "", "rate stated": f"rate = {{ requests_per_minute = {60 * PER_S:.0f} }}\n"}
    cases |= {f"width {width}": f"width = {width}\n" for width in FIXED}
    for number in range(rounds):
        for name, extra in cases.items():
            again = 3 if name == "cold" else 1
            with tempfile.TemporaryDirectory() as place:
                for repetition in range(again):
                    with serving() as (url, meter):
                        put_prompts(Path(place), count, url, extra)
                        took_s = run(Path(place), *(["--again"] if repetition else []))
                    label = name if not repetition else f"run {repetition + 1}"
                    share = meter.refused / (meter.taken + meter.refused)
                    print(f"200 prompts at 600 a minute, {label}: {took_s:.1f} s, {share:.1%} refused", flush=True)
                    parameters = {"case": f"prompts, {label}", "round": number}
                    record("first_minute", parameters, took_s, "s")
                    record("first_minute", parameters | {"what": "refused"}, share, "of requests")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--only", choices=("sleeps", "prompts"))
    wanted = parser.parse_args()
    if wanted.only != "prompts":
        sleeps(runs=4)
    if wanted.only != "sleeps":
        prompts(wanted.rounds)
