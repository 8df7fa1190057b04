"""A model server on this machine that answers as it is told: enough of four protocols for real agents to do a task.

What to do stands in the prompt, as "Run `command`": the first answer asks for that command, the next one closes.
"""

import json
import re
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_RUN = re.compile(r"Run `([^`]+)`")
_WRITE = re.compile(r"Run `printf (\S+) > (\S+?)`")
_SHELLS = ("Bash", "exec_command", "shell_command", "shell", "run_shell_command", "bash")
_THINKS_S = 3.0
TOKENS_IN, TOKENS_OUT = 900, 30

#: What each refusal is for the two families of services: (status, type, message).
_REFUSALS: dict[str, tuple[tuple[int, str, str], tuple[int, str, str]]] = {
    "rate": ((429, "rate_limit_exceeded", "Rate limit reached"), (429, "rate_limit_error", "Too many tokens")),
    "closed": ((429, "usage_limit_reached", "The usage limit has been reached"), (429, "rate_limit_error", "Used up")),
    "quota": (
        (429, "insufficient_quota", "You exceeded your current quota, please check your plan and billing details"),
        (400, "invalid_request_error", "Your credit balance is too low"),
    ),
    "auth": (
        (401, "invalid_api_key", "Incorrect API key provided"),
        (401, "authentication_error", "invalid x-api-key"),
    ),
    "busy": ((503, "server_is_overloaded", "Overloaded"), (529, "overloaded_error", "Overloaded")),
    "context": (
        (400, "context_length_exceeded", "maximum context length is 10 tokens"),
        (400, "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"),
    ),
}

_DAILY = "Quota exceeded for metric: generate_requests_per_model_per_day, limit: 250"
_DAILY_VIOLATION = {
    "@type": "type.googleapis.com/google.rpc.QuotaFailure",
    "violations": [
        {
            "quotaMetric": "generativelanguage.googleapis.com/generate_requests_per_model_per_day",
            "quotaId": "GenerateRequestsPerDayPerProjectPerModel",
        }
    ],
}
_GEMINI_REFUSALS: dict[str, tuple[int, str, str]] = {
    "rate": (429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."),
    "closed": (429, "RESOURCE_EXHAUSTED", _DAILY),
    "quota": (429, "RESOURCE_EXHAUSTED", _DAILY),
    "auth": (401, "UNAUTHENTICATED", "API key not valid. Please pass a valid API key."),
    "busy": (503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
    "context": (400, "INVALID_ARGUMENT", "The input token count exceeds the maximum number of tokens allowed (8)."),
}


class ScriptedModel:
    """`mode` is asked at each request: "ok", a refusal, or "hang", "stall" or "drop"."""

    def __init__(self, mode: Callable[[], str]) -> None:
        self.mode = mode
        self.opens_at = 0.0  # when a closed account opens again
        self.asked: list[str] = []  # what each request was answered with
        #: With more requests at once than this, all of them are refused; None: it bears any number.
        self.bears: int | None = None
        self._at_once: set[int] = set()
        self._too_many: set[int] = set()
        self._lock = threading.Lock()
        self._closing = threading.Event()
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                model.answer(self, json.loads(body or b"{}"))

            def do_GET(self) -> None:
                send(self, 200, {"object": "list", "data": [], "models": []})

            do_HEAD = do_GET

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()

    def answer(self, request: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        path = request.path.partition("?")[0]
        if path.endswith("count_tokens"):
            send(request, 200, {"input_tokens": TOKENS_IN})
            return
        speak = next((one for end, one in _PROTOCOLS.items() if path.endswith(end)), None)
        if speak is None:
            send(request, 404, {"error": {"message": f"no such path: {path}"}})
            return
        mode = self.mode()
        if self.bears is not None and mode == "ok" and self._is_burst():
            mode = "busy"
        self.asked.append(mode)
        if mode in ("hang", "stall", "drop"):
            self._leave_unanswered(request, mode)
            return
        if mode != "ok":
            if speak is _gemini:
                status, kind, message = _GEMINI_REFUSALS[mode]
                details = [_DAILY_VIOLATION] if message is _DAILY else []
                error = {"code": status, "status": kind, "message": message, "details": details}
                send(request, status, {"error": error})
                return
            self._refuse(request, mode, is_messages=speak is _messages)
            return
        call = _call_for(body)
        events = speak(call, _edit_for(body) or "All done.")
        if body.get("stream") or path.endswith("streamGenerateContent"):
            stream(request, events)
        else:
            send(request, 200, events[-1][1])

    def _is_burst(self) -> bool:
        """Thinks for a moment. Whoever is there while there are too many is refused with them."""
        assert self.bears is not None
        me = threading.get_ident()
        with self._lock:
            self._at_once.add(me)
            if len(self._at_once) > self.bears:
                self._too_many |= self._at_once
        self._closing.wait(_THINKS_S)
        with self._lock:
            self._at_once.discard(me)
            is_too_many = me in self._too_many
            self._too_many.discard(me)
        return is_too_many

    def _leave_unanswered(self, request: BaseHTTPRequestHandler, mode: str) -> None:
        """No answer at all, one that never continues, or one that breaks off."""
        if mode != "hang":
            request.send_response(200)
            request.send_header("content-type", "text/event-stream")
            request.send_header("transfer-encoding", "chunked")
            request.end_headers()
            request.wfile.write(b"6\r\n: hm\n\n\r\n")
            request.wfile.flush()
        if mode != "drop":
            self._closing.wait()
        request.close_connection = True

    def _refuse(self, request: BaseHTTPRequestHandler, mode: str, *, is_messages: bool) -> None:
        status, kind, message = _REFUSALS[mode][is_messages]
        error: dict[str, Any] = {"type": kind, "code": kind, "message": message}
        headers = {"retry-after": "2"} if mode == "rate" else {}
        if mode == "closed":
            at = int(self.opens_at + 1)
            error |= {"resets_at": at, "resets_in_seconds": max(0, at - int(time.time()))}
            headers = {
                "anthropic-ratelimit-unified-status": "rejected",
                "anthropic-ratelimit-unified-reset": str(at),
                "anthropic-ratelimit-unified-representative-claim": "five_hour",
            }
        send(request, status, {"type": "error", "error": error}, headers)


def send(request: BaseHTTPRequestHandler, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
    content = json.dumps(body).encode()
    request.send_response(status)
    for name, value in {
        "content-type": "application/json",
        "content-length": str(len(content)),
        **(headers or {}),
    }.items():
        request.send_header(name, value)
    request.end_headers()
    if request.command != "HEAD":
        request.wfile.write(content)


def stream(request: BaseHTTPRequestHandler, events: list[tuple[str, Any]]) -> None:
    request.send_response(200)
    request.send_header("content-type", "text/event-stream")
    request.send_header("connection", "close")
    request.end_headers()
    for name, data in events:
        text = data if isinstance(data, str) else json.dumps(data)
        request.wfile.write((f"event: {name}\n" if name else "").encode() + f"data: {text}\n\n".encode())
    request.wfile.flush()
    request.close_connection = True


def _call_for(body: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """The shell tool and its arguments, or None once the command has been run."""
    said = body.get("messages") or body.get("input") or body.get("contents") or []
    text = json.dumps(said)
    marks = ('"tool_result"', '"function_call_output"', '"role": "tool"', '"functionResponse"')
    ran = any(mark in text for mark in marks)
    wanted = _RUN.findall(text)
    offered = [one for tool in body.get("tools") or [] for one in tool.get("functionDeclarations") or [tool]]
    tools = {tool.get("name") or tool.get("function", {}).get("name"): tool for tool in offered}
    name = next((shell for shell in _SHELLS if shell in tools), None)
    if ran or not wanted or name is None:
        return None
    tool = tools[name]
    given = tool.get("input_schema") or tool.get("parametersJsonSchema") or tool.get("parameters")
    schema = given or tool.get("function", {}).get("parameters") or {}
    properties = schema.get("properties", {})
    command = json.loads(f'"{wanted[-1]}"')
    field = "cmd" if "cmd" in properties else "command"
    is_list = properties.get(field, {}).get("type") == "array"
    arguments: dict[str, Any] = {field: ["bash", "-lc", command] if is_list else command}
    arguments |= {"description": "as asked"} if "description" in properties else {}
    arguments |= {"is_background": False} if "is_background" in properties else {}
    return name, arguments


def _edit_for(body: dict[str, Any]) -> str:
    """The same for an agent without tools, which writes what stands in the answer."""
    wanted = _WRITE.findall(json.dumps(body.get("messages") or []))
    return "" if body.get("tools") or not wanted else f"{wanted[-1][1]}\n```\n{wanted[-1][0]}\n```\n"


Call = tuple[str, dict[str, Any]] | None
Events = list[tuple[str, Any]]


def _messages(call: Call, text: str) -> Events:
    usage = {"input_tokens": TOKENS_IN, "output_tokens": TOKENS_OUT}
    if call is None:
        block: dict[str, Any] = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": text}
    else:
        block = {"type": "tool_use", "id": f"toolu_{time.time_ns()}", "name": call[0], "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call[1])}
    message = {"id": f"msg_{time.time_ns()}", "type": "message", "role": "assistant", "model": "m", "content": []}
    message |= {"stop_reason": None, "stop_sequence": None, "usage": usage}
    stop = {"stop_reason": "end_turn" if call is None else "tool_use", "stop_sequence": None}
    events: list[tuple[str, dict[str, Any]]] = [
        ("message_start", {"message": message}),
        ("content_block_start", {"index": 0, "content_block": block}),
        ("content_block_delta", {"index": 0, "delta": delta}),
        ("content_block_stop", {"index": 0}),
        ("message_delta", {"delta": stop, "usage": usage}),
        ("message_stop", {}),
    ]
    return [(name, {"type": name, **data}) for name, data in events]


def _responses(call: Call, text: str) -> Events:
    usage = {"input_tokens": TOKENS_IN, "output_tokens": TOKENS_OUT, "total_tokens": TOKENS_IN + TOKENS_OUT}
    usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    if call is None:
        item: dict[str, Any] = {"type": "message", "id": "m1", "role": "assistant", "status": "completed"}
        item["content"] = [{"type": "output_text", "text": text, "annotations": []}]
    else:
        item = {"type": "function_call", "id": "f1", "call_id": f"call_{time.time_ns()}", "status": "completed"}
        item |= {"name": call[0], "arguments": json.dumps(call[1])}
    whole = {"id": "r1", "object": "response", "status": "completed", "output": [item], "usage": usage, "error": None}
    events: list[tuple[str, dict[str, Any]]] = [
        ("response.created", {"response": {**whole, "status": "in_progress", "output": [], "usage": None}}),
        ("response.output_item.done", {"output_index": 0, "item": item}),
        ("response.completed", {"response": whole}),
    ]
    return [(name, {"type": name, "sequence_number": n, **data}) for n, (name, data) in enumerate(events)]


def _chat(call: Call, text: str) -> Events:
    usage = {"prompt_tokens": TOKENS_IN, "completion_tokens": TOKENS_OUT, "total_tokens": TOKENS_IN + TOKENS_OUT}
    base = {"id": "c1", "created": int(time.time()), "model": "m", "object": "chat.completion.chunk"}
    if call is None:
        delta: dict[str, Any] = {"role": "assistant", "content": text}
    else:
        function = {"name": call[0], "arguments": json.dumps(call[1])}
        one = {"index": 0, "id": f"call_{time.time_ns()}", "type": "function", "function": function}
        delta = {"role": "assistant", "tool_calls": [one]}
    last = {"index": 0, "delta": {}, "finish_reason": "stop" if call is None else "tool_calls"}
    chunks = [
        {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**base, "choices": [last]},
        {**base, "choices": [], "usage": usage},
    ]
    return [*(("", chunk) for chunk in chunks), ("", "[DONE]")]


def _gemini(call: Call, text: str) -> Events:
    part = {"text": text} if call is None else {"functionCall": {"name": call[0], "args": call[1]}}
    usage = {"promptTokenCount": TOKENS_IN, "candidatesTokenCount": TOKENS_OUT}
    usage["totalTokenCount"] = TOKENS_IN + TOKENS_OUT
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    return [("", {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "m"})]


_PROTOCOLS: dict[str, Callable[[Call, str], Events]] = {
    "/messages": _messages,
    "/responses": _responses,
    "/chat/completions": _chat,
    "enerateContent": _gemini,
}
