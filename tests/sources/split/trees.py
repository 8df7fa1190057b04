"""Builders of code bases and what every tree must hold."""

import json
import subprocess
from collections.abc import Iterable
from pathlib import Path

from manyhands.sources.split.nesting import PROGRESS_MAX
from manyhands.sources.split.split_types import Source, SplitSettings, Tree, make_source

#: A real tree, beside the project where there is one.
DJANGO = Path(__file__).resolve().parents[3].parent / "shared" / "data" / "split" / "django.json.gz"


def a_source(
    size_of: dict[str, int], imports: Iterable[tuple[str, str]] = (), commits: Iterable[Iterable[str]] = ()
) -> Source:
    return make_source(size_of.items(), ((a, b, 1.0) for a, b in imports), commits)


def budget(tokens: int, **more: int) -> SplitSettings:
    return SplitSettings(budget_tokens=tokens, **more)


def leaf_files(tree: Tree) -> set[frozenset[str]]:
    return {frozenset(leaf.files) for leaf in tree.leaves()}


def write_files(root: Path, content_of: dict[str, str | bytes]) -> Path:
    for name, content in content_of.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def git(root: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", "-C", str(root), *identity, *arguments], check=True, capture_output=True)


def is_sound(tree: Tree, source: Source) -> None:
    """What holds for every tree, whatever it was made from."""
    nodes = tree.by_id()
    assert len(nodes) == len(tree.nodes)
    assert json.loads(json.dumps([node.parent for node in tree.nodes])).count(None) == 1
    whole = [file for leaf in tree.leaves() for file in leaf.files if not leaf.ranges]
    pieces = {part.file for leaf in tree.leaves() for part in leaf.ranges}
    assert sorted([*whole, *pieces]) == list(source.paths)
    for node in tree.nodes:
        assert bool(node.children) != bool(node.files)
        assert node.reason
        children = [nodes[child] for child in node.children]
        assert all(child.parent == node.id and child.depth == node.depth + 1 for child in children)
        if children:
            assert node.strategy in ("affinity", "directory", "chunks", "symbols")
            assert len(children) > 1
            assert max(child.tokens for child in children) <= PROGRESS_MAX * node.tokens
        if len(node.files) > 1 and node.tokens > tree.settings.budget_tokens:
            assert node.reason.startswith(("no_progress", "max_depth"))
