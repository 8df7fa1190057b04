"""The description is true: whatever it allows and whatever it does not, the answers are those it names."""

import asyncio
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import CHECKS, load_all_checks

from manyhands.assembly import open_session
from manyhands.sources.config.config_reading import load_config
from manyhands.surfaces.api.endpoints import ENDPOINTS, PREFIX
from manyhands.surfaces.api.openapi import description
from manyhands.surfaces.api.token import token_of
from surfaces.api.live import CONFIG, nap, offered, open_run, shell, store_of

#: A slice of it in every run; all that the library thinks of, and more of it, in the long one.
SOAK = os.environ.get("MANYHANDS_SOAK") == "1"
EXAMPLES = 100 if SOAK else 6


class Server(threading.Thread):
    """A dispatcher and its API in a loop of their own: the tests of this file are not asynchronous."""

    def __init__(self, directory: Path) -> None:
        super().__init__(daemon=True)
        self._directory = directory
        self._is_up = threading.Event()
        self.url = self.token = ""

    def run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        async with open_session(load_config(self._directory, environ={})) as dispatcher, offered(dispatcher) as url:
            await open_run(dispatcher, [nap("a", 600, kind="slow"), nap("b", needs=("a",)), shell("c", "echo hi")])
            self.url, self.token = url, token_of(store_of(dispatcher))
            self._is_up.set()
            await self._over.wait()

    def wait_up(self) -> None:
        assert self._is_up.wait(60)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self.join(60)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    directory = tmp_path_factory.mktemp("described")
    (directory / "manyhands.toml").write_text(CONFIG)
    one = Server(directory)
    one.start()
    one.wait_up()
    yield one
    one.stop()


#: The stream never ends by itself; tests/surfaces/api/test_stream.py has it.
SCHEMA = schemathesis.openapi.from_dict(description()).exclude(path=f"{PREFIX}/stream")
SCHEMA.config.phases.coverage.enabled = SOAK
#: Too long is refused before it is looked at.
SCHEMA.config.checks.negative_data_rejection.expected_statuses += ["413", "414"]
#: Not that all that fits the schema is accepted: a task may fit it and still have nothing to run.
load_all_checks()
HELD = [
    CHECKS.get_one(name)
    for name in (
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_schema_conformance",
        "unsupported_method",
        "negative_data_rejection",
        "ignored_auth",
    )
]


@pytest.mark.slow
@SCHEMA.parametrize()
@settings(max_examples=EXAMPLES, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_answer_is_one_that_is_described(case: schemathesis.Case, server: Server) -> None:
    headers = {"Authorization": f"Bearer {server.token}"}
    answer = case.call_and_validate(base_url=server.url, headers=headers, checks=HELD)
    assert 200 <= answer.status_code < 500


def test_the_description_is_valid_and_has_every_endpoint() -> None:
    whole = description()
    described = {(method.upper(), path) for path, methods in whole["paths"].items() for method in methods}
    assert described == {(one.method, PREFIX + one.path) for one in ENDPOINTS}
    ids = [operation["operationId"] for methods in whole["paths"].values() for operation in methods.values()]
    assert len(set(ids)) == len(ids)
    for schema in whole["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
