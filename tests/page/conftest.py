"""The browser and the server the tests of the page share."""

from page.browsing import browser, served

__all__ = ["browser", "served"]
