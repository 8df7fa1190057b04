"""Turns an image file into the pixels that a model takes, on threads or in a separate process.

The numbers are those of the image processors that models are published with: Pillow resizes, then the middle is cut.
"""

import io
from typing import TYPE_CHECKING

from manyhands.worker.values.framing import Framing
from manyhands.worker.values.item_answers import Trouble

if TYPE_CHECKING:
    from PIL.Image import Image

#: Pillow knows formats whose decoders start other programs or are rarely tried. These are what cameras and the web use.
FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP")
#: A decoded image takes up to four bytes for each pixel. A small file can hold an image of any size.
PIXELS_MAX = 64_000_000


def decoded(file: bytes, framing: Framing) -> bytes | Trouble:
    """The pixels of an image, height by width by colour, or what is wrong with it."""
    from PIL import Image, ImageOps

    try:
        with Image.open(io.BytesIO(file), formats=FORMATS) as opened:
            if opened.width * opened.height > PIXELS_MAX:
                return _too_large(opened.width, opened.height)
            return _framed(ImageOps.exif_transpose(opened).convert("RGB"), framing)
    except Image.DecompressionBombError:
        return Trouble("too_large", f"the image has more than {PIXELS_MAX:,} pixels", True)
    except MemoryError:
        raise
    except Exception as error:  # the boundary: decoders raise errors of every type for damaged files
        return Trouble("not_image", f"the image cannot be read: {_told(error)}; use {', '.join(FORMATS)}", True)


def _framed(image: "Image", framing: Framing) -> bytes | Trouble:
    size = framing.size
    if framing.fit == "stretch":
        return image.resize((size, size), framing.resample).tobytes()
    shorter = min(image.size)
    width, height = (framing.shortest if side == shorter else framing.shortest * side // shorter for side in image.size)
    if width * height > PIXELS_MAX:  # a thin line would become a picture of any length
        return _too_large(*image.size)
    left, top = (width - size) // 2, (height - size) // 2
    return image.resize((width, height), framing.resample).crop((left, top, left + size, top + size)).tobytes()


def _too_large(width: int, height: int) -> Trouble:
    return Trouble("too_large", f"the image has {width:,} by {height:,} pixels, which is too large", True)


def _told(error: Exception) -> str:
    # Pillow names the object in memory that it read from, which says nothing to the caller.
    return "its format is unknown" if "cannot identify" in str(error) else str(error) or type(error).__name__
