"""The short way from a JSON row to its task, for rows that are certainly good.

Any other row is read closely in `task_rows`. Both ways give the same task, so this one may leave any row to the other.
The fields are tested by the rules that `Task` declares.
"""

from functools import lru_cache

import msgspec
from msgspec.structs import force_setattr

from manyhands.core.values.task import WORKTREE, Claims, Task
from manyhands.durations import parse_duration
from manyhands.readers.compiled_rules import compiled_rules
from manyhands.readers.shape import DEPTH_MAX
from manyhands.sources.workspace_paths import BadPath, plain_claim, plain_directory

_decode_task = msgspec.json.Decoder(Task).decode
_decode_any = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


def quick_task(row: bytes) -> Task | None:
    """The task of a row that has nothing unusual; None says only that it takes a closer look."""
    task: Task | None
    try:
        task = _decode_task(row)
    except msgspec.ValidationError:
        task = _with_seconds(row)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
    if task is None or not _is_usual(task) or b"\\u0000" in row or _may_repeat_a_key(row, task):
        return None
    if task.args and row.count(b"{") + row.count(b"[") > DEPTH_MAX:
        return None
    if not task.kind:
        force_setattr(task, "kind", "shell" if task.run else "python" if task.call else "text")
    return task


def _with_seconds(row: bytes) -> Task | None:
    """The one friendly form that is common enough in large plans to deserve a short way."""
    try:
        fields = _decode_any(row)
        timeout = fields["timeout"]
        fields["timeout"] = parse_duration(timeout) if isinstance(timeout, str) else None
        return None if fields["timeout"] is None else msgspec.convert(fields, Task)
    except (msgspec.MsgspecError, LookupError, TypeError, ValueError, RecursionError):
        return None


def _may_repeat_a_key(row: bytes, task: Task) -> bool:
    """Every key brings a colon, so a row with more of them than its values need has a key twice.

    Asked first of the task, as it is there already; it knows nothing of fields that were given their default.
    """
    colons = row.count(b":")
    return colons != _encode(task).count(b":") and colons != _encode(_decode_any(row)).count(b":")


_keeps_rules = compiled_rules(Task)


def _is_usual(task: Task) -> bool:
    return (
        _keeps_rules(task)
        and (not task.call if task.run else not task.workspace and (task.call != "" or task.prompt != ""))
        and (not task.approve or task.workspace == WORKTREE)
        and (len(task.needs) < 2 or len(set(task.needs)) == len(task.needs))
        and (task.claims is None or _is_plain(task.claims))
        and (not task.cwd or _is_plain_directory(task.cwd))
        and not (task.save or task.keep or task.limits is not None)
    )


@lru_cache(maxsize=4096)
def _is_plain(claims: Claims) -> bool:
    try:
        for patterns in (claims.write, claims.append, claims.read):
            if patterns != tuple(dict.fromkeys(plain_claim(pattern) for pattern in patterns)):
                return False
    except BadPath:
        return False
    return True


@lru_cache(maxsize=1024)
def _is_plain_directory(path: str) -> bool:
    try:
        return path == plain_directory(path)
    except BadPath:
        return False
