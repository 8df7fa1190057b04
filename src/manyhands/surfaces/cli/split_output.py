"""How a split can be shown; apart from the command, so that `--help` need not load it."""

import enum


class SplitOutput(enum.StrEnum):
    TREE = "tree"
    JSON = "json"
    DOT = "dot"
    HTML = "html"
