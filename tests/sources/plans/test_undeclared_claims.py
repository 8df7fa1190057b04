from helpers import a_task
from manyhands.core.values.task import Claims
from manyhands.sources.plans.undeclared_claims import undeclared_note


def test_commands_that_declare_nothing_are_counted_and_others_are_not():
    silent = [a_task(id, run=("true",), claims=None) for id in ("a", "b")]
    others = [
        a_task("c", run=("true",), claims=Claims()),
        a_task("d", run=("true",), claims=None, workspace="worktree"),
        a_task("e", run=(), call="m:f", claims=None),
    ]
    said = "2 tasks declare no claims, so they use the workspace one at a time"
    assert undeclared_note([*silent, *others]) == said
    assert undeclared_note([silent[0], *others]) == "", "one alone takes turns with nobody like it"
