"""Fixtures every test may ask for; each is started only when one does."""

pytest_plugins = ("llama_server",)
