"""A console for the command."""

from cli.console import console

__all__ = ["console"]
