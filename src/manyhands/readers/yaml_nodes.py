"""A YAML file as plain values and their lines.

Only plain data: no tags beyond the standard ones, no key twice in a table, no references that grow out of hand.
"""

from collections.abc import Iterator
from typing import Any

import yaml

from manyhands.readers.problems import FieldPath
from manyhands.readers.shape import DEPTH_MAX
from manyhands.readers.toml_lines import TomlLines

_MERGE = "tag:yaml.org,2002:merge"
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class YamlRefused(Exception):
    """Each complaint is (line, message, hint)."""

    def __init__(self, *complaints: tuple[int, str, str]) -> None:
        super().__init__(complaints)
        self.complaints = complaints


def read_yaml_document(text: str) -> tuple[Any, TomlLines]:
    loader = _Loader(text)
    try:
        _refuse_deep(text)
        node = loader.get_single_node()
        if node is None:
            return None, TomlLines({})
        _refuse_growth(node)
        if complaints := list(_repeated_keys(node)):
            raise YamlRefused(*complaints)
        line_by_path: dict[FieldPath, int] = {}
        _note_lines(node, (), line_by_path)
        return loader.construct_document(node), TomlLines(line_by_path)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise YamlRefused((line, f"is not valid YAML: {error.reason}", "take the character out")) from None
    except yaml.MarkedYAMLError as error:
        raise YamlRefused(_complaint(error, text)) from None
    except (ValueError, OverflowError, LookupError, AttributeError, TypeError) as error:
        # A date such as 2024-13-45 has the form of one and no meaning. What a tag calls a date may not even have that.
        raise YamlRefused((0, f"is not valid YAML: {error}", "put dates in quotes, and take tags out")) from None
    finally:
        loader.dispose()


def _complaint(error: yaml.MarkedYAMLError, text: str) -> tuple[int, str, str]:
    mark = error.problem_mark or error.context_mark
    reason = error.problem or error.context or "cannot be understood"
    hint = "only plain values: no tags" if "tag" in reason else "look at the indentation and the quotes of this line"
    if mark and any(line.lstrip(" ").startswith("\t") for line in text.split("\n")[mark.line : mark.line + 1]):
        hint = "indent with blanks, not tabs"
    if "single document" in (error.context or ""):
        reason, hint = "a second document begins", "one plan a file; take out the `---`"
    return (mark.line + 1 if mark else 0, f"is not valid YAML: {reason}", hint)


def _refuse_deep(text: str) -> None:
    """Asked of the events, before anything walks the nodes by recursion: libyaml would take the process down."""
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > DEPTH_MAX:
                mark = event.start_mark
                raise YamlRefused((mark.line + 1 if mark else 0, "is nested too deeply", ""))
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _children(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _refuse_growth(root: yaml.Node) -> None:
    """References may repeat a value, not hold themselves or multiply each other (a "billion laughs")."""
    size_of: dict[int, int] = {}
    open_nodes: set[int] = set()

    def size(node: yaml.Node, depth: int) -> int:
        if id(node) in size_of:
            return size_of[id(node)]
        line = node.start_mark.line + 1
        if id(node) in open_nodes:
            raise YamlRefused((line, "has a reference to what it is part of", "write the value out"))
        if depth > DEPTH_MAX:
            raise YamlRefused((line, "is nested too deeply", ""))
        open_nodes.add(id(node))
        size_of[id(node)] = total = 1 + sum(size(child, depth + 1) for child in _children(node))
        open_nodes.discard(id(node))
        return total

    total = size(root, 0)
    if total > 100_000 + 10 * len(size_of):
        raise YamlRefused((1, f"its references stand for {total:,} values", "write the values out"))


def _repeated_keys(node: yaml.Node) -> Iterator[tuple[int, str, str]]:
    if isinstance(node, yaml.MappingNode):
        first_line: dict[tuple[str, str], int] = {}
        for key, _ in node.value:
            line = key.start_mark.line + 1
            if isinstance(key, yaml.ScalarNode) and key.tag != _MERGE:
                name = (key.tag, key.value)
                if name in first_line:
                    message = f"`{key.value}` is given twice in one table, first on line {first_line[name]}"
                    yield line, message, "keep one of the two"
                first_line.setdefault(name, line)
    for child in _children(node):
        yield from _repeated_keys(child)


def _note_lines(node: yaml.Node, path: FieldPath, line_by_path: dict[FieldPath, int]) -> None:
    line_by_path.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, yaml.SequenceNode):
        for place, child in enumerate(node.value):
            _note_lines(child, (*path, place), line_by_path)
    elif isinstance(node, yaml.MappingNode):
        merged = []
        for key, child in node.value:
            if key.tag == _MERGE:
                merged.append(child)
            else:
                here = (*path, str(key.value))
                line_by_path.setdefault(here, key.start_mark.line + 1)
                _note_lines(child, here, line_by_path)
        for child in merged:  # what a table says itself goes before what it takes over
            for source in child.value if isinstance(child, yaml.SequenceNode) else [child]:
                _note_lines(source, path, line_by_path)
