"""Texts become tokens here: on threads, or in a process of its own; either way nothing of this touches a device."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from manyhands.models.engine.validation import CHARACTERS_PER_TOKEN_MAX

if TYPE_CHECKING:
    from tokenizers import Tokenizer

#: One text, or two of which the second is judged by the first.
Text = str | tuple[str, str]


class Encoded(NamedTuple):
    ids: list[int]
    types: list[int]  # of pairs


class Tokenizing:
    """One model's tokenizer. May be used by several threads at once."""

    def __init__(self, file: str, length_max: int) -> None:
        # Its own threads would not be counted against anyone's; ours are the parallelism.
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        from tokenizers import Tokenizer

        self._length_max = length_max
        self._whole: Tokenizer = Tokenizer.from_file(file)
        self._whole.no_padding()
        self._whole.no_truncation()
        self._file = file
        self._cutting: Tokenizer | None = None
        self.vocabulary: int = self._whole.get_vocab_size()

    def encode(self, texts: Sequence[Text], cut: bool) -> list[Encoded]:
        tokenizer = self._cutter() if cut else self._whole
        if cut:
            texts = [self._shortened(text) for text in texts]
        encode = getattr(tokenizer, "encode_batch_fast", tokenizer.encode_batch)  # the same without offsets
        return [
            Encoded(each.ids, each.type_ids if isinstance(text, tuple) else [])
            for text, each in zip(texts, encode(list(texts)), strict=True)
        ]

    def _shortened(self, text: Text) -> Text:
        """Nobody waits for the tokens of a megabyte of which a few hundred are kept."""
        most = self._length_max * CHARACTERS_PER_TOKEN_MAX
        return text[:most] if isinstance(text, str) else (text[0][:most], text[1][:most])

    def _cutter(self) -> "Tokenizer":
        if self._cutting is None:
            from tokenizers import Tokenizer

            cutting = Tokenizer.from_file(self._file)
            cutting.no_padding()
            cutting.enable_truncation(self._length_max)
            self._cutting = cutting
        return self._cutting
