"""A Beads issue with the fields that we use, and the values they may have.

The original line is kept too, so a field that is not declared here is never lost.
"""

import re
from typing import Any, Literal

from msgspec import Struct

#: What Beads does with a status: only `active` is ever ready.
Category = Literal["active", "wip", "done", "frozen", "unspecified"]

STATUSES: dict[str, Category] = {
    "open": "active",
    "in_progress": "wip",
    "blocked": "wip",
    "hooked": "wip",
    "closed": "done",
    "deferred": "frozen",
    "pinned": "frozen",
}
TOMBSTONE = "tombstone"
#: A dependency on an issue in one of these statuses blocks nothing.
SETTLED = frozenset({"closed", "pinned"})

EPIC = "epic"
#: Types that are never given out as work.
NOT_WORK = frozenset({"merge-request", "gate", "molecule", "message", "agent", "role", "rig"})

BLOCKS = "blocks"
CONDITIONAL_BLOCKS = "conditional-blocks"
WAITS_FOR = "waits-for"
PARENT_CHILD = "parent-child"
#: The dependencies that can block an issue. All others are only remarks and may have any name.
BLOCKING = (BLOCKS, CONDITIONAL_BLOCKS, WAITS_FOR, PARENT_CHILD)
#: Some writers spell them with underscores.
_SPELLINGS = {name.replace("-", "_"): name for name in BLOCKING}

PRIORITY_DEFAULT = 2
TITLE_MAX = 500

#: The order in which Beads writes the fields of an issue.
FIELD_ORDER = re.findall(
    r"\w+",
    "_type id title description design acceptance_criteria notes spec_id status priority issue_type assignee owner "
    "estimated_minutes created_at created_by updated_at started_at closed_at close_reason closed_by_session due_at "
    "defer_until external_ref source_system metadata compaction_level compacted_at compacted_at_commit original_size "
    "labels dependencies comments deleted_at deleted_by delete_reason original_type sender ephemeral no_history "
    "wisp_type pinned is_template bonded_from await_type await_id timeout waiters source_formula source_location "
    "mol_type work_type event_kind actor target payload dependency_count dependent_count comment_count parent",
)


class Dependency(Struct, frozen=True, gc=False):
    """A dependency of the issue that waits. `depends_on_id` is the issue it waits for."""

    depends_on_id: str
    issue_id: str = ""
    type: str = BLOCKS
    metadata: Any = None  # a string with JSON in it

    @property
    def sort(self) -> str:
        return _SPELLINGS.get(self.type, self.type)


class Issue(Struct, frozen=True):
    id: str
    title: str = ""
    description: str = ""
    design: str = ""
    acceptance_criteria: str = ""
    notes: str = ""
    status: str = "open"
    priority: int = -1  # -1: not given
    issue_type: str = "task"
    assignee: str = ""
    created_at: str = ""
    updated_at: str = ""
    started_at: str = ""
    closed_at: str = ""
    defer_until: str = ""
    close_reason: str = ""
    external_ref: str = ""
    metadata: Any = None
    labels: tuple[str, ...] = ()
    dependencies: tuple[Dependency, ...] = ()
    ephemeral: bool = False
    wisp: bool = False  # an earlier name of `ephemeral`
    pinned: bool = False
    is_template: bool = False

    @property
    def is_epic(self) -> bool:
        return self.issue_type == EPIC

    @property
    def is_settled(self) -> bool:
        return self.status in SETTLED

    @property
    def parents(self) -> list[str]:
        return [dependency.depends_on_id for dependency in self.dependencies if dependency.sort == PARENT_CHILD]
