"""The numeric libraries. They are imported when first needed, because that takes longer than most commands."""

from importlib import import_module
from typing import Any

from manyhands.errors import UsageError
from manyhands.install_hints import install_hint


def scipy_stats() -> Any:
    return _imported("scipy.stats")


def scipy_special() -> Any:
    """The plain functions behind the distributions of scipy.stats, for code that calls them hundreds of times."""
    return _imported("scipy.special")


def numpy() -> Any:
    return _imported("numpy")


def _imported(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as problem:
        raise UsageError(
            f"the figures of evals need `{name}`: {problem}", f"`{install_hint('evals')}` installs it"
        ) from problem
