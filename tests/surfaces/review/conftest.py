"""A console for the command."""

from surfaces.cli.console import console

__all__ = ["console"]
