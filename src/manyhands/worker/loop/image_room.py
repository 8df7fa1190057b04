"""Bounds the images of a model that wait between request and answer. More are refused before they are read."""

from collections.abc import Iterator
from contextlib import contextmanager

from manyhands.worker.values.item_answers import Busy, TooMuch

#: How soon there may be room again. Nothing is known yet about images that have not been read.
RETRY_AFTER_S = 1.0


class ImageRoom:
    def __init__(self, model: str, images_max: int) -> None:
        self._model = model
        self._images_max = images_max
        self._taken = 0

    @contextmanager
    def taken(self, images: int) -> Iterator[None]:
        # The queue takes no more than this from one request, and refuses only after all of them were decoded.
        most = self._images_max // 2
        if images > most:
            raise TooMuch(
                f"the request has {images:,} images, but model `{self._model}` takes at most {most:,} per request",
                "send them in several requests",
            )
        if self._taken + images > self._images_max:
            raise Busy(f"{self._taken:,} images of model `{self._model}` wait already", RETRY_AFTER_S)
        self._taken += images
        try:
            yield
        finally:
            self._taken -= images
