"""Fixtures every test may ask for; each is started only when one does."""

import os
import sys

import pytest
from hypothesis import settings

# The suite starts some thousand Python processes. Where the machine forbids bytecode, each would compile its modules.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

pytest_plugins = ("campaign_rows", "llama_server", "patience", "postgres_server", "redis_server")

# The same examples on every machine: a change is judged by what it changed. `make soak` looks for new ones.
settings.register_profile("same", derandomize=True, database=None)
settings.register_profile("new", derandomize=False)
settings.load_profile("new" if os.environ.get("MANYHANDS_SOAK") else "same")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """pytest-xdist 3.8 notes a test's group where pytest 9.2 no longer looks, and its groups are taken apart."""
    for item in items:
        grouped = vars(item).get("_nodeid")
        if grouped and item.nodeid != grouped:
            from _pytest.nodeid import coerce_node_id

            item._id = coerce_node_id(grouped)  # type: ignore[attr-defined]
