"""Tree-sitter grammars by file name. They are an optional extra: without them, their languages have no import ties."""

import importlib
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Parser

#: Suffix → language, the module of its grammar, the function that gives it.
GRAMMARS: dict[str, tuple[str, str, str]] = {
    ".js": ("JavaScript", "tree_sitter_javascript", "language"),
    ".jsx": ("JavaScript", "tree_sitter_javascript", "language"),
    ".mjs": ("JavaScript", "tree_sitter_javascript", "language"),
    ".cjs": ("JavaScript", "tree_sitter_javascript", "language"),
    ".ts": ("TypeScript", "tree_sitter_typescript", "language_typescript"),
    ".mts": ("TypeScript", "tree_sitter_typescript", "language_typescript"),
    ".cts": ("TypeScript", "tree_sitter_typescript", "language_typescript"),
    ".tsx": ("TypeScript", "tree_sitter_typescript", "language_tsx"),
    ".go": ("Go", "tree_sitter_go", "language"),
    ".rs": ("Rust", "tree_sitter_rust", "language"),
    ".java": ("Java", "tree_sitter_java", "language"),
}


def language_of(path: str) -> str:
    """`TypeScript`, `Go` …; "" for files that no grammar reads."""
    return GRAMMARS.get(_suffix(path), ("", "", ""))[0]


def _suffix(path: str) -> str:
    name = path.rpartition("/")[2]
    return name[name.rfind(".") :].lower() if "." in name else ""


def parse(path: str, content: bytes) -> "Node | None":
    """The root of the syntax tree; None if no grammar is installed for it."""
    _, module, function = GRAMMARS.get(_suffix(path), ("", "", ""))
    parser = _parser(module, function) if module else None
    return parser.parse(content).root_node if parser is not None else None


@cache
def _parser(module: str, function: str) -> "Parser | None":
    language = _language(module, function)
    if language is None:
        return None
    from tree_sitter import Parser

    return Parser(language)


def _language(module: str, function: str) -> "Language | None":
    try:
        from tree_sitter import Language

        return Language(getattr(importlib.import_module(module), function)())
    except ImportError:
        return None


def has_grammar(path: str) -> bool:
    _, module, function = GRAMMARS.get(_suffix(path), ("", "", ""))
    return bool(module) and _parser(module, function) is not None


def top_level_lines(path: str, content: bytes) -> list[int] | None:
    """The lines on which top-level symbols start; None if no grammar is installed."""
    root = parse(path, content)
    if root is None:
        return None
    return sorted({child.start_point[0] + 1 for child in root.named_children if child.type != "comment"})
