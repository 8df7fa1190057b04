"""The state of a store as commands see it; see `manyhands.verbs.views`."""

from manyhands.verbs.views import open_book as open_book
