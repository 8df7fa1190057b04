"""Paths of claims and working directories: made one of a kind, and kept inside the workspace."""

import re

from manyhands.core.claims import is_resource

_BRACES = re.compile(r"\{[^{}]*,[^{}]*\}")
_WILD = re.compile(r"[*?\[]")
_OUTSIDE = "tasks work inside the workspace; what is outside of it cannot be kept apart"
#: No file system has longer ones; matching two globs takes stack by their length.
_NAME_MAX, _DEPTH_MAX = 255, 64


class BadPath(ValueError):
    """`rule` completes the sentence "`claims.write` …"; `hint` is the next step."""

    def __init__(self, rule: str, hint: str = "") -> None:
        super().__init__(rule)
        self.rule = rule
        self.hint = hint


def plain_claim(claim: str) -> str:
    """The one way to write this claim: `./a//b/` is `a/b`, a named resource stays as it is."""
    if not claim.isprintable() or claim != claim.strip():
        raise BadPath("must be a path, a glob or a named resource", "take out the blanks and control characters")
    if is_resource(claim):
        if len(claim) > _NAME_MAX:
            raise BadPath(f"must be at most {_NAME_MAX} characters long")
        return claim
    _refuse_malformed(claim)
    parts = _inside(claim, is_glob=True)
    if not parts:
        return "**"
    if is_resource(parts[0]):
        raise BadPath("reads like a named resource", "a path in the workspace has no colon in its first name")
    if parts[0].startswith("!"):
        raise BadPath("must not be negated", "list what the task touches, not what it leaves alone")
    if claim.endswith("/") and _WILD.search(parts[-1]) and parts[-1] != "**":
        parts.append("**")
    return "/".join(parts)


def plain_file(path: str) -> str:
    """One file in the workspace, relative to it."""
    plain = plain_claim(path)
    if is_resource(plain) or _WILD.search(plain) or path.endswith("/"):
        raise BadPath("must be the path of one file", 'for example `save = "docs/{id}.md"`')
    if ".git" in plain.split("/"):
        raise BadPath("must not be inside `.git`", "git reads commands from there")
    return plain


def filled_file(path: str, id: str, kind: str) -> str:
    """The file that a task saves its answer to."""
    return plain_file(path.replace("{id}", id).replace("{kind}", kind))


def plain_directory(path: str) -> str:
    """A directory in the workspace, relative to it; "" is the workspace itself."""
    return "/".join(_inside(path, is_glob=False))


def _refuse_malformed(glob: str) -> None:
    if not glob:
        raise BadPath("must not be empty", "`claims = {}` says that a task touches nothing")
    if braces := _BRACES.search(glob):
        raise BadPath("must not have braces", f"write one claim for each of {braces[0]}")
    for name in glob.split("/"):
        if "**" in name and name != "**":
            raise BadPath("has `**` beside other characters", "`**` stands for whole directories: `a/**/b`")
        if _has_open_bracket(name):
            raise BadPath("has a `[` that is never closed", "close it, or write `[[]` for the character itself")


def _has_open_bracket(name: str) -> bool:
    at = name.find("[")
    while at >= 0:
        # As in fnmatch: `]` right after `[` or `[!` is one of the characters.
        end = name.find("]", at + (3 if name.startswith("[!", at) else 2))
        if end < 0:
            return True
        at = name.find("[", end)
    return False


def _inside(path: str, *, is_glob: bool) -> list[str]:
    """The names on the way, without detours; refused if the way leads out of the workspace."""
    if "\\" in path:
        raise BadPath("must not have backslashes", f"write {shown_slashes(path)}")
    if path.startswith("/") or re.match(r"[A-Za-z]:", path):
        raise BadPath("must be relative to the workspace", _OUTSIDE)
    parts: list[str] = []
    for name in path.split("/"):
        if name == "..":
            if not parts:
                raise BadPath("leaves the workspace", _OUTSIDE)
            if is_glob and _WILD.search(parts[-1]):
                raise BadPath("has `..` after a wildcard", "write the path without the detour")
            parts.pop()
        elif name not in ("", "."):
            parts.append(name)
    # Asked of the plain form, so that a plain form stays as it is when it is read again.
    if parts and parts[0].startswith("~"):
        raise BadPath("leaves the workspace", "`~` is never expanded; write it relative to the workspace")
    if len(parts) > _DEPTH_MAX or any(len(name) > _NAME_MAX for name in parts):
        raise BadPath("is longer than any path", f"at most {_DEPTH_MAX} names of {_NAME_MAX} characters")
    return parts


def shown_slashes(path: str) -> str:
    return f"`{path[:60].replace(chr(92), '/')}`"
