"""Makes a task for every leaf: it may write the files of the leaf, and the prompt names its neighbours."""

import re
from collections.abc import Sequence

from msgspec.structs import replace

from manyhands.core.values.task import Claims, Task
from manyhands.sources.split.neighbours import Neighbour, neighbours_of_leaves
from manyhands.sources.split.split_types import Source, Subplan, Tree
from manyhands.sources.workspace_paths import BadPath, plain_claim

DEFAULT_TEMPLATE = """\
Work on {name} ({tokens} tokens, {id}). Change these files only:
{files}

You may read these files outside of it. It depends on them or changes together with them:
{neighbours}
"""
_FIELD = re.compile(r"\{(id|name|tokens|files|neighbours|parent)\}")
#: Characters with a special meaning in a claim. `?` stands for any one character, so the claim still covers the file.
_SPECIAL = re.compile(r"[*?\[\]{}\\]")


def tasks_of(
    tree: Tree,
    source: Source,
    template: str = DEFAULT_TEMPLATE,
    kind: str = "code",
    run: Sequence[str] = (),
    workspace: str = "",
    inside: str = "",
) -> list[Task]:
    """`inside` is the split directory as the workspace sees it, with its slash: tasks name files from there."""
    near = neighbours_of_leaves(tree, source)
    like = Task("", kind=kind, run=tuple(run), workspace=workspace)
    return [_task(leaf, near.get(leaf.id, []), template, like, inside) for leaf in tree.leaves()]


def _task(leaf: Subplan, near: list[Neighbour], template: str, like: Task, inside: str) -> Task:
    part = f" lines {leaf.ranges[0].first_line}-{leaf.ranges[0].last_line}" if leaf.ranges else ""
    values = {
        "id": leaf.id,
        "name": leaf.name,
        "tokens": f"{leaf.tokens:,}",
        "files": "\n".join(_listed(leaf, inside)),
        "neighbours": "\n".join(f"- {inside}{each.file} ({each.leaf})" for each in near) or "(none)",
        "parent": leaf.parent or "",
    }
    return replace(
        like,
        id=leaf.id,
        title=f"{leaf.name}{part} ({len(leaf.files)} files, {leaf.tokens:,} tokens)",
        claims=Claims(write=tuple(dict.fromkeys(claim_of(inside + file) for file in leaf.files))),
        prompt=_FIELD.sub(lambda match: values[match[1]], template),
        parent=leaf.parent or "",
    )


def _listed(leaf: Subplan, inside: str) -> list[str]:
    if leaf.ranges:
        return [f"- {inside}{part.file} lines {part.first_line}-{part.last_line}" for part in leaf.ranges]
    return [f"- {inside}{file}" for file in leaf.files]


def claim_of(path: str) -> str:
    """The claim that covers this file, whatever characters its name has."""
    claim = _SPECIAL.sub("?", path)
    claim = "".join(letter if letter.isprintable() else "?" for letter in claim)
    # A blank at either end, `!`, `~` or a colon would make it another kind of claim.
    claim = re.sub(r"^[\s!~]|\s$|(?<=^[A-Za-z]):", "?", claim)
    claim = re.sub(r"^[A-Za-z][A-Za-z0-9_+.-]*:", lambda match: match[0][:-1] + "?", claim)
    try:
        return plain_claim(claim)
    except BadPath:
        return "**"  # to be safe: it excludes all other tasks
