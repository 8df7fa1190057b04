"""A server that behaves as GitHub's documentation of its REST API says, with issues that tests put into it."""

import hashlib
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

TOKEN = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
AT = "2026-11-18T00:00:00Z"


class GithubServer:
    """`asked` has (method, path, status) of every request. `refusals` are answered first, one for each request."""

    repository = "octo/hello"

    def __init__(self) -> None:
        self.issues: dict[int, dict[str, Any]] = {}
        self.comments: dict[int, list[dict[str, Any]]] = {}
        self.pulls: list[dict[str, Any]] = []
        self.asked: list[tuple[str, str, int]] = []
        self.refusals: list[tuple[int, dict[str, str], dict[str, Any]]] = []
        self.lock = threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                length = int(self.headers.get("content-length") or 0)
                content = json.loads(self.rfile.read(length)) if length else None
                with server.lock:
                    status, headers, found = server.answer(self, content)
                    server.asked.append((self.command, self.path, status))
                body = b"" if status in (204, 304) else json.dumps(found).encode()
                self.send_response_only(status)
                for name, value in {"date": self.date_time_string(), **headers}.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = do_PATCH = do_DELETE = answer

            def log_message(self, *_: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()

    def add(self, number: int, title: str = "", body: str | None = "", labels: tuple[str, ...] = ("agent",)) -> None:
        self.issues[number] = {
            "number": number,
            "title": title or f"Issue {number}",
            "body": body,
            "state": "open",
            "updated_at": AT,
            "labels": [{"name": name, "color": "ededed"} for name in labels],
        }

    def labels(self, number: int) -> list[str]:
        return [label["name"] for label in self.issues[number]["labels"]]

    def answer(self, request: Any, content: Any) -> tuple[int, dict[str, str], Any]:
        if self.refusals:
            return self.refusals.pop(0)
        if request.headers.get("authorization") != f"Bearer {TOKEN}":
            return 401, {}, {"message": "Bad credentials"}
        parts = urlsplit(request.path)
        path = unquote(parts.path)
        root = f"/repos/{self.repository}"
        if not path.startswith(f"{root}/"):
            return 404, {}, {"message": "Not Found"}
        path = path.removeprefix(root)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if path == "/issues":
            return self._list(request, parts, query)
        if path == "/pulls" and request.command == "POST":
            self.pulls.append(content)
            return 201, {}, {"number": 100 + len(self.pulls), "html_url": f"{self.url}/pull/{100 + len(self.pulls)}"}
        found = re.fullmatch(r"/issues/(\d+)(/comments|/labels(?:/(.+))?)?", path)
        if found is None or int(found[1]) not in self.issues:
            return 404, {}, {"message": "Not Found"}
        return self._one(request, int(found[1]), found[2] or "", found[3], content)

    def _list(self, request: Any, parts: Any, query: dict[str, str]) -> tuple[int, dict[str, str], Any]:
        wanted = [
            issue
            for issue in self.issues.values()
            if issue["state"] == query["state"] and query["labels"] in self.labels(issue["number"])
        ]
        each, page = int(query["per_page"]), int(query.get("page", 1))
        rows = wanted[(page - 1) * each : page * each]
        etag = f'W/"{hashlib.sha256(json.dumps(rows).encode()).hexdigest()}"'
        headers = {"etag": etag}
        if page * each < len(wanted):
            pairs = "&".join(f"{name}={value}" for name, value in (query | {"page": str(page + 1)}).items())
            headers["link"] = f'<{self.url}{parts.path}?{pairs}>; rel="next", <{self.url}{parts.path}>; rel="first"'
        if request.headers.get("if-none-match") == etag:
            return 304, headers, None
        return 200, headers, rows

    def _one(
        self, request: Any, number: int, part: str, label: str | None, content: Any
    ) -> tuple[int, dict[str, str], Any]:
        issue, method = self.issues[number], request.command
        if part == "/comments":
            if method == "POST":
                self.comments.setdefault(number, []).append(content)
                return 201, {}, content
            return 200, {}, self.comments.get(number, [])
        if part.startswith("/labels"):
            if method == "POST":
                known = self.labels(number)
                issue["labels"] += [{"name": name} for name in content["labels"] if name not in known]
                return 200, {}, issue["labels"]
            if label not in self.labels(number):
                return 404, {}, {"message": "Label does not exist"}
            issue["labels"] = [each for each in issue["labels"] if each["name"] != label]
            return 200, {}, issue["labels"]
        if method == "PATCH":
            issue.update(content)
        return 200, {}, issue
