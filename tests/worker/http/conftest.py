"""Fixtures for the tests of the worker's HTTP API."""

from llama_server import llama_server  # noqa: F401
from real_models import minilm, smollm  # noqa: F401
from worker.http.live_worker import worker  # noqa: F401
