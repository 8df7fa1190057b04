"""Real text of mixed length: the docstrings of the standard library, in an order that is unrelated to length."""

import ast
import random
import re
import sysconfig
from functools import cache
from pathlib import Path

#: An approximation of a word-piece tokenizer for English and code: short pieces of words, and single signs.
PIECE = re.compile(r"[A-Za-z]{1,6}|[0-9]{1,3}|[^\sA-Za-z0-9]")
LENGTH_MAX = 256  # MiniLM's limit; longer texts are cut


@cache
def docstrings(count: int) -> tuple[str, ...]:
    library = Path(sysconfig.get_paths()["stdlib"])
    files = sorted(library.glob("*.py")) + sorted(library.glob("[a-z]*/*.py"))
    random.Random(7).shuffle(files)
    found: list[str] = []
    for file in files:
        if "test" in file.parts or "site-packages" in file.parts:
            continue
        try:
            tree = ast.parse(file.read_text())
        except (SyntaxError, UnicodeDecodeError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                found += filter(None, [ast.get_docstring(node)])
        if len(found) >= 1.5 * count:  # more than needed, so that the style of one file does not dominate
            break
    random.Random(7).shuffle(found)
    assert len(found) >= count, "this Python does not include the sources of its standard library"
    return tuple(found[:count])


def token_lengths(count: int) -> list[int]:
    """The number of tokens of each docstring, including the two special ones."""
    return [min(LENGTH_MAX, len(PIECE.findall(text)) + 2) for text in docstrings(count)]
