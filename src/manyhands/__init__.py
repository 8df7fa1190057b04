"""manyhands runs a backlog of AI-agent tasks as wide as your machines can bear, and no wider."""

from importlib import import_module

__version__ = "0.1.0"

#: Name → where it is. Loaded when wanted: `manyhands --help` needs no event loop. `__init__.pyi` has their types.
_PLACES = {
    "run_with_concurrency": "manyhands.concurrency",
    "Engine": "manyhands.surfaces.python.engine_opening",
    "task": "manyhands.surfaces.python.task_settings",
    "Results": "manyhands.surfaces.python.map_results",
    "Outcome": "manyhands.surfaces.python.map_results",
    "MapFailed": "manyhands.surfaces.python.map_results",
    "ItemFailed": "manyhands.surfaces.python.map_results",
    "ManyhandsError": "manyhands.errors",
}
__all__ = ["__version__", *_PLACES]


def __getattr__(name: str) -> object:
    if name in _PLACES:
        return getattr(import_module(_PLACES[name]), name)
    raise AttributeError(f"module `manyhands` has no attribute `{name}`")


def __dir__() -> list[str]:
    return sorted(__all__)
