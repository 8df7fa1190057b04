"""What a reader raises when something cannot be read now; the message is for a person."""


class NoAnswer(Exception):
    """The machine, driver or server did not say what was asked."""
