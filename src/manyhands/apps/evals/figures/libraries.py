"""The numeric libraries, imported when the first figure is wanted: they take longer than most commands."""

from importlib import import_module
from typing import Any

from manyhands.errors import UsageError


def scipy_stats() -> Any:
    return _imported("scipy.stats")


def scipy_special() -> Any:
    """The bare functions behind scipy.stats' distributions, for where they are called hundreds of times."""
    return _imported("scipy.special")


def numpy() -> Any:
    return _imported("numpy")


def _imported(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as problem:
        raise UsageError(
            f"figures of evals need `{name}`: {problem}", "`pip install 'manyhands[evals]'` has it"
        ) from problem
