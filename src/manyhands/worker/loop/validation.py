"""What is wrong with one item, before it is computed and after: each check is of that item alone."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from manyhands.worker.values.item_answers import Trouble

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: No tokenizer makes fewer tokens of so many characters, save of blanks: longer texts are not even tokenised.
CHARACTERS_PER_TOKEN_MAX = 64


def wrong_with_text(text: object, length_max: int, cut: bool) -> Trouble | None:
    if not isinstance(text, str):
        return Trouble("not_text", f"must be a string, got {_kind(text)}", True)
    if not text.strip():
        return Trouble("empty", "the text is empty", True)
    if not text.isascii():
        half = next((place for place, letter in enumerate(text) if "\ud800" <= letter <= "\udfff"), None)
        if half is not None:
            return Trouble("not_text", f"half of a surrogate pair at character {half}: not valid UTF-8", True)
    if not cut and len(text) > length_max * CHARACTERS_PER_TOKEN_MAX:
        return Trouble(
            "too_long", f"{len(text):,} characters are more than {length_max} tokens can be; `truncate` cuts it", True
        )
    return None


def wrong_with_ids(ids: Sequence[object], vocabulary: int) -> Trouble | None:
    """Of tokens that the caller made."""
    if not ids:
        return Trouble("empty", "there are no tokens", True)
    bad = next((each for each in ids if type(each) is not int or not 0 <= each < vocabulary), None)
    if bad is None:
        return None
    return Trouble("bad_token", f"tokens are whole numbers from 0 to {vocabulary - 1}, got {bad!r}", True)


def wrong_with_length(length: int, length_max: int) -> Trouble | None:
    if length <= length_max:
        return None
    return Trouble("too_long", f"{length} tokens, at most {length_max}; `truncate` cuts it", True)


def wrong_with_outputs(rows: "NDArray[Any]", width: int) -> dict[int, Trouble]:
    """By the row's place: numbers that are none, and rows of another width than the model says it has."""
    import numpy as np

    if rows.ndim != 2 or (width and rows.shape[1] != width):
        shown = "×".join(map(str, rows.shape[1:])) or "1"
        told = Trouble("wrong_width", f"the model gave {shown} numbers for it instead of {width}")
        return dict.fromkeys(range(len(rows)), told)
    told = Trouble("not_finite", "the model gave numbers for it that are not finite")
    return {int(place): told for place in np.flatnonzero(~np.isfinite(rows).all(axis=1))}


def _kind(value: object) -> str:
    return {list: "a list", dict: "an object", bool: "a boolean", type(None): "null"}.get(type(value), "a number")
