"""The error that a reader raises when something cannot be read now. The message is for a person."""


class NoAnswer(Exception):
    """The machine, driver or server did not give the requested answer."""
