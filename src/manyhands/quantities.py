"""How many of a thing, in words for people: `1 task`, `2 tasks`, `1,200 tasks`."""


def quantity(count: int, word: str, words: str = "") -> str:
    """`words` is the plural, where it is not the word with an s."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {words or f'{word}s'}"


def how_many_are(count: int, word: str) -> str:
    return f"{quantity(count, word)} {'is' if count == 1 else 'are'}"


def how_many_were(count: int, word: str) -> str:
    return f"{quantity(count, word)} {'was' if count == 1 else 'were'}"


def how_many_wait(count: int, word: str) -> str:
    return f"{quantity(count, word)} {'waits' if count == 1 else 'wait'}"
