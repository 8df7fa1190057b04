"""Fixtures of the engine's tests."""

from real_models import minilm  # noqa: F401
