"""The browser and the server the tests of the page share."""

from surfaces.page.browsing import browser, served

__all__ = ["browser", "served"]
