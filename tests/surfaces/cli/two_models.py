"""A model server that has two models, and answers no prompt."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


class Models(BaseHTTPRequestHandler):
    """A server that has two models, and nothing outside of /v1."""

    def do_GET(self) -> None:
        models = [
            {"id": name, "object": "model", "created": 0, "owned_by": "x"} for name in ("qwen3:4b", "granite-code:8b")
        ]
        self._answer(200, {"object": "list", "data": models})

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", "0")))
        if not self.path.startswith("/v1/"):
            self._answer(404, "404 page not found")
        else:
            self._answer(404, {"error": {"message": "model 'granit' not found", "type": "not_found_error"}})

    def _answer(self, status: int, body: object) -> None:
        raw = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    served = ThreadingHTTPServer(("127.0.0.1", 0), Models)
    threading.Thread(target=served.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{served.server_address[1]}"
    served.shutdown()
    served.server_close()
