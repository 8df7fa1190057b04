"""Fixtures for the tests of the engine."""

from real_models import minilm  # noqa: F401
from worker.cuda_in_reach import cuda_in_reach  # noqa: F401
