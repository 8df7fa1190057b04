"""How work done in worktrees comes together: the `[landing]` table of the config."""

from typing import Annotated, Literal

from msgspec import Struct

from manyhands.field_rules import rule, says

Strategy = Literal["three-way", "sequential", "fail-on-conflict", "last-wins"]
Dirty = Literal["refuse", "stash"]


class LandingConfig(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """How work done in worktrees comes together."""

    strategy: Annotated[Strategy, says("How two changes to one file are merged.")] = "three-way"
    target: Annotated[str, says("The branch that work lands on. Left out: the branch that is checked out.")] = ""
    dirty: Annotated[Dirty, says("What happens to uncommitted changes in the working tree.")] = "refuse"
    check: Annotated[
        bool,
        says("The task's check must also pass on top of what has landed meanwhile."),
    ] = True
    pull_request: Annotated[
        bool,
        says("`true`: the branch of each task is pushed to `origin` and a pull request is opened. Nothing lands here."),
    ] = False
    approve: Annotated[bool, says("`true`: all work waits for `manyhands task approve` before it lands.")] = False
    approve_kinds: Annotated[
        tuple[Annotated[str, rule("must name a kind", minLength=1)], ...],
        says('Globs of kinds whose work waits for `manyhands task approve` before it lands: `["schema", "infra-*"]`.'),
    ] = ()
