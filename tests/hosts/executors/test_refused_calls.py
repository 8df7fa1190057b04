"""Errors of other people's clients: which of them mean that a server has too much."""

import email.message
import urllib.error
from pathlib import Path

import httpx
import openai
import pytest

from hosts.executors.stages import raise_stage
from manyhands.core.values.ending import EndingKind
from manyhands.core.values.task import Task
from manyhands.hosts.executors.function import describe_error

REQUEST = httpx.Request("POST", "http://127.0.0.1/v1")


def of_httpx(status: int, **headers: str) -> Exception:
    response = httpx.Response(status, headers=headers, request=REQUEST)
    return httpx.HTTPStatusError(f"status {status}", request=REQUEST, response=response)


def of_openai(status: int, body: object = None, **headers: str) -> Exception:
    return openai.APIStatusError(
        "refused", response=httpx.Response(status, headers=headers, request=REQUEST), body=body
    )


def of_urllib(status: int, wait: str) -> Exception:
    headers = email.message.Message()
    headers["Retry-After"] = wait
    return urllib.error.HTTPError("http://127.0.0.1", status, "busy", headers, None)


class OfAiohttp(Exception):
    """As `aiohttp.ClientResponseError` carries them."""

    def __init__(self, status: int, headers: dict[str, str]) -> None:
        self.status, self.headers = status, headers


class Waits(Exception):
    retry_after = 7


def caused(error: Exception) -> Exception:
    wrapped = RuntimeError("the call failed")
    wrapped.__cause__ = error
    return wrapped


@pytest.mark.parametrize(
    ("error", "wait_s", "is_rate"),
    [
        (of_httpx(429, **{"retry-after": "3"}), 3.0, True),
        (of_httpx(503), None, False),
        (of_openai(429), None, True),
        (of_openai(529), None, False),
        (of_urllib(429, "2"), 2.0, True),
        (OfAiohttp(503, {"Retry-After": "4"}), 4.0, False),
        (of_httpx(500, **{"retry-after": "5"}), 5.0, False),
        (Waits(), 7.0, False),
        (openai.APITimeoutError(REQUEST), None, False),
        (httpx.ReadTimeout("slow", request=REQUEST), None, False),
        (caused(of_openai(429)), None, True),
    ],
)
def test_a_server_that_has_too_much(error: Exception, wait_s: float | None, is_rate: bool) -> None:
    ending = describe_error(error).ending()
    assert (ending.kind, ending.permanent) == (EndingKind.OVERLOADED, False)
    assert (ending.retry_after_s, ending.rate_limited) == (wait_s, is_rate)


def test_a_quota_that_is_used_up_is_no_rate() -> None:
    ending = describe_error(of_openai(429, {"code": "insufficient_quota", "message": "no money"})).ending()
    assert (ending.kind, ending.quota, ending.rate_limited) == (EndingKind.OVERLOADED, True, False)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_call_that_is_wrong_is_not_made_again(status: int) -> None:
    ending = describe_error(of_httpx(status)).ending()
    assert (ending.kind, ending.permanent, ending.needs_person) == (EndingKind.FAILED, True, False)


@pytest.mark.parametrize(
    "error", [ValueError("429"), of_httpx(500), httpx.ConnectError("refused"), SystemExit(429), KeyError("status_code")]
)
def test_other_errors_are_failures_that_may_pass(error: BaseException) -> None:
    ending = describe_error(error).ending()
    assert (ending.kind, ending.permanent) == (EndingKind.FAILED, False)


@pytest.mark.parametrize("name", ["refused_by_its_server", "refused_by_its_server_async"])
async def test_a_python_host_sees_it_too(name: str, tmp_path: Path) -> None:
    stage = await raise_stage("python-sync", tmp_path)
    try:
        ending = await stage.desk.run(Task("a", call=f"hosts.executors.functions:{name}"))
    finally:
        await stage.close()
    assert (ending.kind, ending.rate_limited, ending.retry_after_s) == (EndingKind.OVERLOADED, True, 1.5)
