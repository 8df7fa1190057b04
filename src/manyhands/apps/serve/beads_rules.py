"""How the issues of a Beads backlog become tasks, as its `[[backlogs]]` table says."""

from pathlib import Path
from typing import NamedTuple

from manyhands.core.values.task import Task
from manyhands.sources.beads.beads_finding import find
from manyhands.sources.beads.beads_ready import Conditional
from manyhands.sources.beads.issue_kinds import DEFAULT_KINDS, KindTable, table_of
from manyhands.sources.config.config_types import BacklogConfig, Config


class BeadsRules(NamedTuple):
    like: Task | None = None  # the fields that an issue does not have
    kinds: KindTable = DEFAULT_KINDS
    conditional: Conditional = Conditional.ON_FAILURE


DEFAULT_RULES = BeadsRules()


def pattern_of(row: BacklogConfig) -> Task:
    """The fields that neither an issue nor an entry of a queue has."""
    return Task(
        "",
        run=row.run,
        call=row.call,
        args=row.args,
        check=row.check,
        workspace=row.workspace,
        claims=row.claims,
        save=row.save,
        timeout=row.timeout,
        attempts=row.attempts,
    )


def rules_of(row: BacklogConfig) -> BeadsRules:
    return BeadsRules(pattern_of(row), table_of(row.kinds, row.otherwise), Conditional(row.conditional))


def rules_for(directory: Path, config: Config) -> BeadsRules:
    """The rules of the backlog that is there, if the configuration names it."""
    wanted = find(directory).directory.resolve()
    rows = [row for row in config.backlogs if row.beads]
    return next((rules_of(row) for row in rows if _is_at(config.workspace / row.beads, wanted)), DEFAULT_RULES)


def _is_at(path: Path, wanted: Path) -> bool:
    return path.exists() and find(path).directory.resolve() == wanted
