"""Makes a task for every leaf: it may write the files of the leaf, and the prompt names its neighbours."""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from msgspec.structs import replace

from manyhands.core.values.about import About
from manyhands.core.values.task import Claims, Task
from manyhands.quantities import quantity
from manyhands.sources.split.naming import name_of
from manyhands.sources.split.neighbours import TESTS_MAX, neighbours_of_leaves, tests_of_leaves
from manyhands.sources.split.split_types import Source, Subplan, Tree
from manyhands.sources.workspace_paths import BadPath, plain_claim

DEFAULT_TEMPLATE = """\
{goal}Your part is {name} ({tokens} tokens). Others work on the other parts at the same time.

Change only these files:
{files}

You may read these files, which it depends on or changes together with, but you must not change them:
{neighbours}

These tests cover your part:
{tests}

{checking} Then say in a few lines what you changed and what you could not do.
"""
#: Of the goal, so much is in the title of each part.
_GOAL_CHARACTERS_MAX = 200
_FIELD = re.compile(r"\{(goal|id|name|tokens|files|neighbours|tests|checking|parent)\}")
#: Characters with a special meaning in a claim. `?` stands for any one character, so the claim still covers the file.
_SPECIAL = re.compile(r"[*?\[\]{}\\]")


def tasks_of(
    tree: Tree,
    source: Source,
    template: str,
    like: Task,
    inside: str = "",
    goal: str = "",
    tests_outside: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> list[Task]:
    """Tasks like `like`, one for each leaf.

    `inside` is the split directory as the workspace sees it, with its slash: tasks name files from there.
    `tests_outside` has the tests elsewhere in the workspace, by the file that they test.
    """
    near = neighbours_of_leaves(tree, source)
    tests = tests_of_leaves(tree, source)
    size_of = dict(zip(source.paths, source.tokens, strict=True))
    shared = {"goal": f"{goal.strip()}\n\n" if goal.strip() else ""}
    tasks: list[Task] = []
    for leaf in tree.leaves():
        name = name_of(leaf.files, [size_of[file] for file in leaf.files], inside)
        covering = _tests_named(leaf, [inside + test for test in tests[leaf.id]], tests_outside)
        values = shared | {
            "id": leaf.id,
            "name": name,
            "tokens": f"{leaf.tokens:,}",
            "files": "\n".join(_listed(leaf, inside, size_of)),
            "neighbours": _bullets(f"{inside}{each.file} ({each.leaf})" for each in near.get(leaf.id, ())),
            "tests": _bullets(covering),
            "checking": _checking(like.check, bool(covering)),
            "parent": leaf.parent or "",
        }
        tasks.append(_task(leaf, name, _filled(template, values), like, inside, goal))
    return tasks


def epics_of(tree: Tree, source: Source, inside: str = "") -> dict[str, About]:
    """The parents of leaves, with their names."""
    size_of = dict(zip(source.paths, source.tokens, strict=True))
    nodes = tree.by_id()
    files_of: dict[str, list[str]] = {}
    for leaf in tree.leaves():
        above = leaf.parent
        while above is not None:
            files_of.setdefault(above, []).extend(leaf.files)
            above = nodes[above].parent
    named = dict.fromkeys(leaf.parent for leaf in tree.leaves() if leaf.parent)
    return {
        id: About(name_of(files := list(dict.fromkeys(files_of[id])), [size_of[file] for file in files], inside))
        for id in named
    }


def _checking(check: Sequence[str], has_tests: bool) -> str:
    if check:
        return f"When you are done, `{shlex.join(check)}` must pass: run it."
    tests = "these tests, or whatever else" if has_tests else "whatever"
    return f"When you are done, run {tests} shows that your part still works."


def _tests_named(leaf: Subplan, near: Sequence[str], outside: Mapping[str, Sequence[str]]) -> list[str]:
    others = [test for file in leaf.files for test in outside.get(file, ())]
    return list(dict.fromkeys([*near, *others]))[:TESTS_MAX]


def _filled(template: str, values: dict[str, str]) -> str:
    return _FIELD.sub(lambda match: values[match[1]], template)


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines) or "(none)"


def _task(leaf: Subplan, name: str, prompt: str, like: Task, inside: str, goal: str) -> Task:
    part = f" lines {leaf.ranges[0].first_line}-{leaf.ranges[0].last_line}" if leaf.ranges else ""
    wanted = " ".join(goal.split())[:_GOAL_CHARACTERS_MAX]
    about = f": {wanted}" if wanted else f" ({quantity(len(leaf.files), 'file')}, {leaf.tokens:,} tokens)"
    return replace(
        like,
        id=leaf.id,
        title=f"{name}{part}{about}",
        claims=Claims(write=tuple(dict.fromkeys(claim_of(inside + file) for file in leaf.files))),
        prompt=prompt,
        parent=leaf.parent or "",
    )


def _listed(leaf: Subplan, inside: str, size_of: dict[str, int]) -> list[str]:
    if leaf.ranges:
        return [f"- {inside}{part.file} lines {part.first_line}-{part.last_line}" for part in leaf.ranges]
    return [f"- {inside}{file} ({size_of[file]:,} tokens)" for file in leaf.files]


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
