"""Fixtures of the engine's tests."""

from models.cuda_in_reach import cuda_in_reach  # noqa: F401
from real_models import minilm  # noqa: F401
