"""Fixtures every test may ask for; each is started only when one does."""

import os

from hypothesis import settings

pytest_plugins = ("llama_server", "postgres_server")

# The same examples on every machine: a change is judged by what it changed. `make soak` looks for new ones.
settings.register_profile("same", derandomize=True, database=None)
settings.register_profile("new", derandomize=False)
settings.load_profile("new" if os.environ.get("MANYHANDS_SOAK") else "same")
