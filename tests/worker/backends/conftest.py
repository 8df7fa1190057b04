"""Fixtures for the tests of the backends."""

from real_models import minilm  # noqa: F401
