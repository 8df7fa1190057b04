"""The console that tests of this folder type into."""

from surfaces.cli.console import console

__all__ = ["console"]
