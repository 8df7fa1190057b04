"""Fixtures of the backends' tests."""

from real_models import minilm  # noqa: F401
