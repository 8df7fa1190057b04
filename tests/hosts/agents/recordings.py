"""What agents print, in the forms that they have been seen to print it: (agent, mode) → exit code and lines."""

import json
from typing import Any

SESSION = "5e551017-0000-4000-8000-000000000001"


def _lines(*events: dict[str, Any]) -> list[str]:
    return [json.dumps(event) for event in events]


def _claude(*, error: str = "", status: int | None = None, text: str = "All done.", **result: Any) -> list[str]:
    said: dict[str, Any] = {"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}}
    if error:
        said["error"] = error
    closing = {
        "type": "result",
        "subtype": "success",
        "is_error": bool(error),
        "api_error_status": status,
        "result": text,
        "total_cost_usd": 0.25,
        "usage": {"input_tokens": 100, "cache_read_input_tokens": 20, "output_tokens": 7},
        "permission_denials": [],
    }
    tool = {"type": "tool_use", "name": "Write", "input": {"file_path": "/w/a.py", "content": "usage limit reached"}}
    return _lines(
        {"type": "system", "subtype": "init", "session_id": SESSION},
        {"type": "assistant", "message": {"content": [tool]}},
        {"type": "user", "message": {"content": [{"type": "tool_result", "content": "429 usage limit, resets 3pm"}]}},
        said,
        closing | result,
    )


def _limit_event(**info: Any) -> str:
    return json.dumps({"type": "rate_limit_event", "rate_limit_info": info})


def _codex(*last: dict[str, Any]) -> list[str]:
    command = {"type": "command_execution", "command": "cat notes", "aggregated_output": "You've hit your usage limit"}
    return _lines(
        {"type": "thread.started", "thread_id": SESSION},
        {"type": "turn.started"},
        {"type": "item.started", "item": command | {"status": "in_progress"}},
        {"type": "item.completed", "item": command | {"status": "completed", "exit_code": 0}},
        *last,
    )


def _codex_failed(text: str) -> list[str]:
    return _codex(
        {"type": "error", "message": f"Reconnecting... 1/5 ({text})"},
        {"type": "error", "message": text},
        {"type": "turn.failed", "error": {"message": text}},
    )


_CODEX_SAYS = {"type": "item.completed", "item": {"type": "agent_message", "text": "All done."}}
_CODEX_USED = {"input_tokens": 120, "cached_input_tokens": 20, "output_tokens": 7}


def _qwen(text: str = "All done.") -> list[str]:
    usage = {"input_tokens": 120, "output_tokens": 7, "cache_read_input_tokens": 20}
    return _lines(
        {"type": "system", "subtype": "init", "session_id": SESSION},
        {"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}},
        {"type": "result", "subtype": "success", "is_error": False, "result": text, "usage": usage},
    )


def _gemini(**result: Any) -> list[str]:
    stats = {"input_tokens": 120, "cached": 20, "output_tokens": 7}
    return _lines(
        {"type": "init", "session_id": SESSION},
        {"type": "tool_use", "tool_name": "write_file", "parameters": {"file_path": "a.py"}},
        {"type": "message", "role": "assistant", "content": "All ", "delta": True},
        {"type": "message", "role": "assistant", "content": "done.", "delta": True},
        {"type": "result", "stats": stats, **result},
    )


def _gemini_failed(text: str) -> list[str]:
    return _gemini(status="error", error={"type": "unknown", "message": text})


def _opencode(*last: dict[str, Any]) -> list[str]:
    state = {"status": "completed", "input": {"filePath": "/w/a.py"}, "output": "429 rate limit"}
    tokens = {"input": 50, "output": 3, "cache": {"read": 10, "write": 0}}
    return _lines(
        {"type": "tool_use", "sessionID": "ses_1", "part": {"tool": "write", "state": state}},
        {"type": "step_finish", "sessionID": "ses_1", "part": {"reason": "tool-calls", "tokens": tokens, "cost": 0.1}},
        *({"sessionID": "ses_1"} | one for one in last),
    )


def _opencode_error(name: str, **fields: Any) -> list[str]:
    return _opencode({"type": "error", "error": {"name": name, "data": fields}})


_OPENCODE_LAST = {
    "type": "step_finish",
    "part": {"reason": "stop", "tokens": {"input": 50, "output": 4, "cache": {"read": 10}}, "cost": 0.15},
}


def _aider(*last: str) -> list[str]:
    return ["Aider v0", "Added a.py to the chat.", "", "a.py", *last]


RECORDINGS: dict[tuple[str, str], tuple[int, list[str]]] = {
    ("claude", "ok"): (0, _claude()),
    ("claude", "closed"): (
        1,
        [
            _limit_event(status="rejected", resetsAt=1_800_003_600, rateLimitType="five_hour"),
            *_claude(error="rate_limit", status=429, text="Your limit is used up · resets 9:00am (UTC)"),
        ],
    ),
    ("claude", "closed in words"): (
        1,
        _claude(error="rate_limit", status=429, text="You've hit your limit · resets 9am (UTC)"),
    ),
    ("claude", "rate"): (1, _claude(error="rate_limit", status=429, text="Request rejected (429)")),
    ("claude", "rate of a subscription"): (
        1,
        [_limit_event(status="rejected"), *_claude(error="rate_limit", status=429, text="This is not your usage")],
    ),
    ("claude", "busy"): (1, _claude(error="server_error", text="Repeated 529 Overloaded errors")),
    ("claude", "auth"): (1, _claude(error="authentication_failed", status=401, text="Invalid API key")),
    ("claude", "billing"): (1, _claude(error="billing_error", status=400, text="Credit balance is too low")),
    ("claude", "permanent"): (1, _claude(error="invalid_request", status=400, text="Prompt is too long")),
    ("claude", "limit"): (1, _claude(subtype="error_max_turns", is_error=True)),
    ("claude", "cut off"): (0, _claude()[:-1]),
    ("codex", "ok"): (0, _codex(_CODEX_SAYS, {"type": "turn.completed", "usage": _CODEX_USED})),
    ("codex", "closed"): (1, _codex_failed("You\u2019ve hit your usage limit. Buy more or try again at 9:00 AM.")),
    ("codex", "closed for days"): (1, _codex_failed("usage limit. Try again at Jan 17th, 2027 8:00 AM.")),
    ("codex", "rate"): (1, _codex_failed("exceeded retry limit, last status: 429 Too Many Requests")),
    ("codex", "busy"): (1, _codex_failed("Selected model is at capacity. Please try a different model.")),
    ("codex", "drop"): (1, _codex_failed("stream disconnected before completion: network error")),
    ("codex", "auth"): (1, _codex_failed("unexpected status 401 Unauthorized: Incorrect API key, url: http://h/v1")),
    ("codex", "billing"): (1, _codex_failed("Quota exceeded. Check your plan and billing details.")),
    ("codex", "permanent"): (1, _codex_failed('{"error": {"message": "too long", "code": "context_length_exceeded"}}')),
    ("codex", "cut off"): (0, _codex(_CODEX_SAYS)),
    ("qwen", "ok"): (0, _qwen()),
    ("qwen", "auth"): (0, _qwen("[API Error: 401 Incorrect API key provided]")),
    ("qwen", "busy"): (0, _qwen("[API Error: 500 The server had an error]")),
    ("qwen", "billing"): (
        0,
        _qwen("[API Error: 429 You exceeded your current quota]\nPossible limits. Please wait and try again in 9s."),
    ),
    ("qwen", "drop"): (0, _qwen("[API Error: terminated (cause: other side closed)]")),
    ("qwen", "permanent"): (0, _qwen("[API Error: 400 maximum context length is 128 tokens]")),
    ("qwen", "limit"): (53, _qwen()[:1]),
    ("qwen", "cut off"): (0, _qwen()[:-1]),
    ("gemini", "ok"): (0, _gemini(status="success")),
    ("gemini", "rate"): (173, _gemini_failed("[API Error: Resource has been exhausted.\nSuggested retry after 2s.]")),
    ("gemini", "closed"): (173, _gemini_failed("[API Error: You have exhausted your daily quota on this model.]")),
    ("gemini", "busy"): (247, _gemini_failed('[API Error: {"error": {"code": 503, "message": "full"}}]')),
    ("gemini", "drop"): (1, _gemini_failed("[API Error: terminated]")),
    ("gemini", "auth"): (145, _gemini_failed('[API Error: {"error": {"code": 401, "message": "API key not valid"}}]')),
    ("gemini", "permanent"): (144, _gemini_failed("[API Error: exceeds the maximum number of tokens allowed]")),
    ("gemini", "cut off"): (0, _gemini()[:-1]),
    ("opencode", "ok"): (0, _opencode({"type": "text", "part": {"text": "All done."}}, _OPENCODE_LAST)),
    ("opencode", "rate"): (
        1,
        _opencode_error("APIError", message="slow down", statusCode=429, responseHeaders={"retry-after": "2"}),
    ),
    ("opencode", "closed"): (
        1,
        _opencode_error(
            "APIError",
            message="The usage limit has been reached",
            statusCode=429,
            responseBody='{"error": {"type": "usage_limit_reached", "resets_at": 1800003600}}',
        ),
    ),
    ("opencode", "busy"): (1, _opencode_error("APIError", message="overloaded", statusCode=503)),
    ("opencode", "drop"): (1, _opencode_error("APIError", message="Connection reset by server")),
    ("opencode", "auth"): (1, _opencode_error("APIError", message="Incorrect API key", statusCode=401)),
    ("opencode", "permanent"): (1, _opencode_error("ContextOverflowError", message="too long")),
    ("opencode", "cut off"): (0, _opencode()),
    ("aider", "ok"): (0, _aider("fine", "", "Tokens: 1.2k sent, 7 received. Cost: $0.25 message, $0.25 session.")),
    ("aider", "ok after a blip"): (
        0,
        _aider("litellm.RateLimitError: slow", "Retrying in 0.2 seconds...", "Tokens: 1.2k sent, 7 received."),
    ),
    ("aider", "rate"): (
        0,
        _aider("litellm.RateLimitError: RateLimitError: Rate limit reached for", "m. Please try again in 2s."),
    ),
    ("aider", "billing"): (
        0,
        _aider("litellm.RateLimitError: You exceeded your", "current quota, check your billing."),
    ),
    ("aider", "busy"): (0, _aider("litellm.InternalServerError: The server", "had an error")),
    ("aider", "auth"): (0, _aider("litellm.AuthenticationError: Incorrect", "API key")),
    ("aider", "permanent"): (0, _aider("Tokens: 725 sent, 0 received.", "Model openai/m has hit a token limit!")),
    ("aider", "cut off"): (0, _aider()),
}
