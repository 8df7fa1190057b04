"""Turns texts into tokens, on threads or in a separate process. Nothing here uses a device."""

import os
import threading
from collections.abc import Sequence
from typing import NamedTuple

from manyhands.worker.loop.validation import CHARACTERS_PER_TOKEN_MAX

#: One text, or a query and the text that is ranked for it.
TextOrPair = str | tuple[str, str]


class Encoded(NamedTuple):
    ids: list[int]
    types: list[int]  # the token types of a pair; empty for one text


class Tokenizing:
    """One model's tokenizer. It is read once: a second copy would double the memory of a tokenising process."""

    def __init__(self, file: str, length_max: int) -> None:
        # The worker's own threads provide the parallelism. Threads of the library would not be counted.
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        from tokenizers import Tokenizer

        self._length_max = length_max
        self._tokenizer: Tokenizer = Tokenizer.from_file(file)
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._cuts = False
        self._lock = threading.Lock()  # the truncation setting must not change during a call
        self.vocabulary: int = self._tokenizer.get_vocab_size()

    def encode(self, texts: Sequence[TextOrPair], cut: bool) -> list[Encoded]:
        if cut:
            texts = [shortened(text, self._length_max) for text in texts]
        with self._lock:
            self._set_cutting(cut)
            encode = getattr(self._tokenizer, "encode_batch_fast", self._tokenizer.encode_batch)  # without offsets
            encoded = encode(list(texts))
        return [
            Encoded(each.ids, each.type_ids if isinstance(text, tuple) else [])
            for text, each in zip(texts, encoded, strict=True)
        ]

    def _set_cutting(self, cut: bool) -> None:
        if cut != self._cuts:
            if cut:
                self._tokenizer.enable_truncation(self._length_max)
            else:
                self._tokenizer.no_truncation()
            self._cuts = cut


def shortened(text: TextOrPair, length_max: int) -> TextOrPair:
    """Cut a text before it is tokenised. It saves the tokens of a megabyte of which only a few hundred are kept."""
    most = length_max * CHARACTERS_PER_TOKEN_MAX
    return text[:most] if isinstance(text, str) else (text[0][:most], text[1][:most])
