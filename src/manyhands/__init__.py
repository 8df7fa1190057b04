"""manyhands runs a backlog of AI-agent tasks as wide as your machines can bear, and no wider."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from manyhands.concurrency import run_with_concurrency

__version__ = "0.1.0"
__all__ = ["__version__", "run_with_concurrency"]


def __getattr__(name: str) -> object:
    # Loaded when wanted: `manyhands --help` needs no event loop.
    if name == "run_with_concurrency":
        from manyhands.concurrency import run_with_concurrency

        return run_with_concurrency
    raise AttributeError(f"module `manyhands` has no attribute `{name}`")
