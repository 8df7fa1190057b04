"""Tasks are published and changed from the command line, over HTTP and by MCP, through one verb."""

from surfaces.cli.console import Console, console, sh, shell_host

__all__ = ["console"]


def test_drafts_are_published_and_tasks_are_edited_from_the_command_line(console: Console) -> None:
    console.config(shell_host(1))
    console.plan([sh("idea", "true", stage="draft"), sh("other", "true", stage="planned"), sh("now", "true")])
    console.run("run", "plan.jsonl")
    assert "it is a draft" in console.run("task", "explain", "idea").out
    refused = console.run("task", "resume", "idea")
    assert refused.code == 2
    assert "task publish idea" in refused.err
    assert "is done and cannot be published" in console.run("task", "publish", "now").err
    said = console.run("task", "edit", "idea", "--priority", "1", "--needs", "now", "--title", "An idea").err
    assert "will be changed (priority 1, needs now, title An idea)" in said
    assert "there is no task `no`" in console.run("task", "edit", "idea", "--needs", "no").err
    assert "there is no stage" in console.run("task", "edit", "idea", "--stage", "thought").err
    assert "1 task of run plan-1 will be published" in console.run("task", "publish", "ide*").err
    console.run("run", "plan.jsonl")
    shown = console.run("task", "show", "idea", "--output", "json").json
    assert (shown["state"], shown["plan"]["priority"], shown["plan"]["title"]) == ("done", 1, "An idea")
    assert console.run("task", "--state", "deferred", "--output", "ids").ids == ["other"]
