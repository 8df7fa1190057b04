"""One Markdown file as an issue: front matter in YAML, then the text that the agent is told."""

import json
import re
from collections.abc import Mapping

import msgspec

from manyhands.readers.yaml_nodes import YamlRefused, read_yaml_document
from manyhands.sources.beads.issue import Dependency, Issue
from manyhands.sources.beads.times import written

_FENCE = "---"
#: What people write → the status it means.
STATUS_OF = {
    "open": "open",
    "todo": "open",
    "in_progress": "in_progress",
    "doing": "in_progress",
    "done": "closed",
    "closed": "closed",
    "failed": "blocked",
    "blocked": "blocked",
    "deferred": "deferred",
    "later": "deferred",
}
#: A status → the word that is written.
WORD_OF = {
    "open": "open",
    "in_progress": "in_progress",
    "closed": "done",
    "blocked": "failed",
    "deferred": "deferred",
}
_HEADING = re.compile(r"#[ \t]+(.+?)[ \t]*#*$", re.MULTILINE)


class _FrontMatter(msgspec.Struct, forbid_unknown_fields=False):
    title: str = ""
    status: str = "open"
    priority: int = 2
    kind: str = ""
    labels: list[str] = []
    needs: list[str] = []
    files: list[str] = []
    by: str = ""


class BadFrontMatter(Exception):
    """The front matter cannot be used. The message says why."""


def parts_of(text: str) -> tuple[list[str], str]:
    """The lines of the front matter, without its fences, and the text below."""
    lines = text.split("\n")
    if not lines or lines[0].strip() != _FENCE:
        return [], text
    for place, line in enumerate(lines[1:], 1):
        if line.strip() == _FENCE:
            return lines[1:place], "\n".join(lines[place + 1 :])
    raise BadFrontMatter("the front matter has no end: a line `---` is missing")


def issue_of(id: str, text: str, mtime_ns: int) -> Issue:
    lines, body = parts_of(text)
    try:
        found = read_yaml_document("\n".join(lines))[0] or {}
    except YamlRefused as refused:
        line, message, _ = refused.complaints[0]
        at = f" at line {line + 1}" if line else ""  # the fence is above it
        raise BadFrontMatter(f"the front matter {message}{at}") from None
    if not isinstance(found, dict):
        raise BadFrontMatter("the front matter must be `name: value` lines")
    try:
        front = msgspec.convert({str(name): value for name, value in found.items() if value is not None}, _FrontMatter)
    except msgspec.ValidationError as error:
        raise BadFrontMatter(f"the front matter is wrong: {error}") from None
    status = STATUS_OF.get(front.status.lower().replace(" ", "_").replace("-", "_"))
    if status is None:
        raise BadFrontMatter(f"`status` must be one of {', '.join(STATUS_OF)}, got `{front.status}`")
    if not 0 <= front.priority <= 4:
        raise BadFrontMatter(f"`priority` must be from 0 to 4, got {front.priority}")
    title, body = front.title, body.strip()
    if not title and (heading := _HEADING.match(body)):
        title, body = heading[1], body[heading.end() :].strip()
    return Issue(
        id,
        title=title or id,
        description=body,
        status=status,
        priority=front.priority,
        assignee=front.by,
        updated_at=written(mtime_ns),
        metadata={"files": front.files} if front.files else None,
        labels=(*front.labels, *((f"kind:{front.kind}",) if front.kind else ())),
        dependencies=tuple(Dependency(need) for need in front.needs),
    )


def with_fields(text: str, fields: Mapping[str, str | None]) -> str:
    """The text with these fields in its front matter; None removes one. All other lines stay as they are."""
    lines, body = parts_of(text)
    kept: list[str] = []
    skipping = False
    for line in lines:
        name = re.match(r"([A-Za-z_][\w-]*)\s*:", line)
        if name is not None:
            skipping = name[1] in fields
        elif line[:1] not in (" ", "\t", "-"):  # a comment or an empty line belongs to nothing
            skipping = False
        if not skipping:
            kept.append(line)
    kept += [f"{name}: {_scalar(value)}" for name, value in fields.items() if value]
    return "\n".join([_FENCE, *kept, _FENCE, body])


def _scalar(value: str) -> str:
    """One line of YAML, whatever the text has in it."""
    if value.isidentifier():
        return value
    return json.dumps(value, ensure_ascii=False)  # which is YAML too
