"""`manyhands add` says what it leaves out of a plan."""

from surfaces.cli.console import Console

PLAN = '[plan]\n{settings}\n[[task]]\nid = "a"\nrun = ["true"]\nclaims = {{}}\n'


def test_settings_of_a_plan_that_joins_a_run_are_not_dropped_in_silence(console: Console) -> None:
    console.write("three.toml", PLAN.format(settings='title = "Three"\nlessons = true'))
    added = console.run("add", "three.toml")
    assert added.code == 0, added.err
    assert "note: `title`, `lessons` of `[plan]` are not taken" in added.err
    assert "`manyhands run three.toml` opens a run with the settings" in added.err
    assert console.book().runs["added"].about.title == ""


def test_a_plan_without_settings_is_added_without_a_note(console: Console) -> None:
    console.write("three.toml", PLAN.format(settings=""))
    assert "note:" not in console.run("add", "three.toml").err
