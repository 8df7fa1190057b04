"""Checks an item before and after it is computed. Each check looks at that item alone."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from manyhands.worker.values.item_answers import Trouble

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Tokenizers make at least one token of this many characters, unless they are blanks. Longer texts are not tokenised.
CHARACTERS_PER_TOKEN_MAX = 64


def wrong_with_text(text: object, length_max: int, cut: bool) -> Trouble | None:
    if not isinstance(text, str):
        return Trouble("not_text", f"the text must be a string, got {_kind(text)}", True)
    if not text.strip():
        return Trouble("empty", "the text is empty", True)
    if not text.isascii():
        half = next((place for place, letter in enumerate(text) if "\ud800" <= letter <= "\udfff"), None)
        if half is not None:
            return Trouble(
                "not_text", f"the text is not valid UTF-8: character {half} is half of a surrogate pair", True
            )
    if not cut and len(text) > length_max * CHARACTERS_PER_TOKEN_MAX:
        return Trouble(
            "too_long",
            f"the text has {len(text):,} characters, more than fit into {length_max} tokens; `truncate` cuts it",
            True,
        )
    return None


def wrong_with_ids(ids: Sequence[object], vocabulary: int) -> Trouble | None:
    """Check tokens that the caller sent."""
    if not ids:
        return Trouble("empty", "the list of tokens is empty", True)
    bad = next((each for each in ids if type(each) is not int or not 0 <= each < vocabulary), None)
    if bad is None:
        return None
    return Trouble("bad_token", f"tokens must be whole numbers from 0 to {vocabulary - 1}, got {bad!r}", True)


def wrong_with_length(length: int, length_max: int) -> Trouble | None:
    if length <= length_max:
        return None
    return Trouble(
        "too_long", f"the text has {length} tokens, at most {length_max} are allowed; `truncate` cuts it", True
    )


def wrong_with_outputs(rows: "NDArray[Any]", width: int) -> dict[int, Trouble]:
    """Errors by row: numbers that are not finite, and rows whose width differs from the model's."""
    import numpy as np

    if rows.ndim != 2 or (width and rows.shape[1] != width):
        shown = "×".join(map(str, rows.shape[1:])) or "1"
        told = Trouble("wrong_width", f"the model returned {shown} numbers for this item instead of {width}")
        return dict.fromkeys(range(len(rows)), told)
    told = Trouble("not_finite", "the model returned numbers for this item that are not finite")
    return {int(place): told for place in np.flatnonzero(~np.isfinite(rows).all(axis=1))}


def _kind(value: object) -> str:
    return {list: "a list", dict: "an object", bool: "a boolean", type(None): "null"}.get(type(value), "a number")
