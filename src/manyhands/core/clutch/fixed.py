"""A width that a person pinned."""

from manyhands.core.values.widths import PlainLimit


class Fixed(PlainLimit, tag="fixed"):
    width: int
    reason: str = "pinned"
