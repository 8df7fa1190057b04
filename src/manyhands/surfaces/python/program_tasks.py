"""Tasks that a program writes as dicts: checked as those of a plan file are, and named by their content."""

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

from manyhands.core.values.task import Task
from manyhands.errors import UsageError
from manyhands.sources.config.config_types import Config
from manyhands.sources.plans.host_check import check_hosts
from manyhands.sources.plans.plan_reading import PlanRefused, plan_of_rows

_ID_CHARACTERS = 20


def checked_tasks(rows: Iterable[Mapping[str, Any]], config: Config) -> list[Task]:
    """All of them, or none: raises PlanRefused with everything that is wrong with any of them."""
    named = [_named(row) for row in rows]
    if not named:
        return []
    plan = plan_of_rows(named, "the submitted tasks")
    if problems := check_hosts(plan, config.core_hosts(), config.core_families(), config.core_routes()):
        raise PlanRefused(problems)
    return plan.tasks


def _named(row: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(row, Mapping):
        raise UsageError(
            f"a task must be a dict with the fields of a plan, got a {type(row).__name__}",
            'for example {"prompt": "Explain this error"}',
        )
    if "id" in row:
        return dict(row)
    content = json.dumps(row, sort_keys=True, default=str).encode()
    return {"id": sha256(content).hexdigest()[:_ID_CHARACTERS], **row}
