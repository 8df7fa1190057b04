"""The dispatcher that tests of this folder look at over HTTP."""

from surfaces.api.live import live

__all__ = ["live"]
