"""How a model wants its images: their size, and how a picture of another size is brought to it."""

from typing import Literal

from msgspec import Struct


class Framing(Struct, frozen=True, kw_only=True):
    size: int  # width and height in pixels
    #: `cover`: the shorter side is resized to `shortest` and the middle is cut out. `stretch`: both sides are resized.
    fit: Literal["cover", "stretch"] = "stretch"
    shortest: int = 0  # only for `cover`
    resample: int = 3  # the filter as Pillow numbers it; 3 is bicubic

    @property
    def image_bytes(self) -> int:
        """What one image takes while it waits: three bytes for each pixel."""
        return 3 * self.size * self.size
