"""Real receivers: an HTTP server that keeps what it gets and can be told to misbehave."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Hook:
    """Answers with `answers`, one each, then always with 200. With 429 it wants to be left alone for a minute."""

    def __init__(self) -> None:
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.answers: list[int] = []
        self.leads_to = ""  # where it sends whoever gets a redirect
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                code = hook.answers.pop(0) if hook.answers else 200
                if code == 200:
                    hook.got.append(({name.lower(): value for name, value in self.headers.items()}, body))
                self.send_response(code)
                self.send_header("Content-Length", "0")
                if 300 <= code < 400:
                    self.send_header("Location", hook.leads_to)
                if code == 429:
                    self.send_header("Retry-After", "60")
                self.end_headers()

            def log_message(self, *_: Any) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def letters(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, body in self.got]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
